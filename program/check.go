package program

import (
	"fmt"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
)

// Result is what a run of a program gives: whole outputs, put together from the devices' blocks, and the bytes that
// each collective moved.
type Result struct {
	Outputs     []*tensor.Tensor
	Collectives []CollectiveCheck
	Checks      int      // check ops that were executed, all of which hold; those of an Interpreter are counted
	Uncounted   bool     // the outputs come from a backend that does not count bytes
	Profile     *Profile // nil where nobody measured
	Notes       []string // outputs, and results of shard_maps whose check is off, that devices do not agree about
}

// Check is the result of running a plan and comparing it.
type Check struct {
	Outputs     []OutputCheck     `json:"outputs"`
	Proof       *Proof            `json:"proof,omitempty"` // nil where none was made
	Collectives []CollectiveCheck `json:"collectives"`
	Passed      bool              `json:"passed"`
	Note        string            `json:"note,omitempty"` // what could not be compared
	Result      *Result           `json:"-"`              // what was compared
}

// Proof says how the values that the devices computed compare, one by one, with what the program's ops make of the
// operands that the devices had.
type Proof struct {
	Values  int     `json:"values"`  // that were compared, each time they were computed
	Exact   int     `json:"exact"`   // of these, equal bit for bit
	Nearest float64 `json:"nearest"` // largest difference let pass, as a share of what rounding allows
	Wrong   int     `json:"wrong"`   // values that differ by more
	Faults  []Fault `json:"faults,omitempty"`
}

// Fault is a value that the devices computed wrongly.
type Fault struct {
	Source  string `json:"source"` // line of the model, or of the plan's program
	Message string `json:"message"`

	pos diag.Position
}

// OutputCheck compares one output. Errors are relative to the largest magnitude of the reference, or of the numbers that
// it was summed from, and absent where no comparison was made; math.MaxFloat64 stands for a number on one side that the other has not.
type OutputCheck struct {
	Index          int      `json:"index"`
	Name           string   `json:"name"`
	UnshardedError *float64 `json:"unshardedError,omitempty"` // against the unsharded run
	ExpectedError  *float64 `json:"expectedError,omitempty"`  // against the expected outputs
	Exact          bool     `json:"exact"`                    // bit for bit equal to the unsharded run
	Passed         bool     `json:"passed"`
	Wrong          *Wrong   `json:"wrong,omitempty"` // of an output that did not pass
}

// Wrong says which elements of an output differ by more than they may.
type Wrong struct {
	Reference string  `json:"reference"` // "unsharded run" or "expected outputs"
	Elements  int     `json:"elements"`  // how many
	Index     []int64 `json:"index"`     // of the one that is furthest over what is allowed
	Got       string  `json:"got"`
	Want      string  `json:"want"`
	Allowed   string  `json:"allowed"` // difference
}

// Tolerance is what results of other systems may differ by, beside what rounding explains.
type Tolerance struct {
	Abs float64 // of any element
	Rel float64 // of an element's magnitude
}

// CollectiveCheck compares predicted and counted bytes of one collective.
type CollectiveCheck struct {
	Kind      string `json:"kind"`
	Predicted int64  `json:"predicted"`
	Counted   int64  `json:"counted"`
	Varies    bool   `json:"varies,omitempty"` // the data decides how often it runs

	once int64 // predicted for one run
}

// Agrees says whether the count bears out the prediction. Where the data decides how often the collective runs, each
// run has to move what is predicted of one.
func (c *CollectiveCheck) Agrees() bool {
	return c.Predicted == c.Counted || c.Varies && c.once > 0 && c.Counted%c.once == 0
}

// finding is the error of a check that did not pass: the first value that is wrong, where that is known.
func (c *Check) finding() error {
	if c.Proof != nil && len(c.Proof.Faults) > 0 {
		f := &c.Proof.Faults[0]
		return diag.Finding(diag.Mismatch, f.pos, "the sharded run computes a wrong value first here: %s", f.Message)
	}
	for i := range c.Outputs {
		if w := c.Outputs[i].Wrong; w != nil {
			return diag.Finding(diag.Mismatch, diag.Position{}, "the run differs from the %s: output %d (%s) has %s in place of %s at %s",
				w.Reference, i, c.Outputs[i].Name, w.Got, w.Want, w.Place())
		}
	}
	return diag.Finding(diag.Mismatch, diag.Position{}, "the collectives moved other amounts than predicted")
}

// Place returns the index of the worst element as text: [0,12].
func (w *Wrong) Place() string { return strings.ReplaceAll(fmt.Sprint(w.Index), " ", ",") }
