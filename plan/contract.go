package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/program"
	"autoshard/rewrites"
)

// Constraint is a sharding that the user wrote inside the program, behind the inputs and before the outputs, as the plan keeps it.
type Constraint struct {
	Type        string `json:"type"`                  // of the whole tensor
	Sharding    string `json:"sharding"`              // Shardy's text
	Spec        string `json:"spec"`                  // PartitionSpec form
	RefinedSpec string `json:"refinedSpec,omitempty"` // over the plan's refined mesh
	Source      string `json:"source"`                // where the user wrote it: scope and line
}

// Timeline sums up a simulated step in which collectives run beside other ops. Times are in seconds.
type Timeline struct {
	Seconds float64            `json:"seconds"` // of the step
	Hidden  float64            `json:"hidden"`  // that the step is shorter than one op after the other, as the estimate has it
	Ahead   int                `json:"ahead"`   // places before its own at which a collective may start
	Busy    []program.LinkBusy `json:"busy"`    // how long links are, in the order of the network
}

// Request says what a plan was made for and how, beside mesh, hardware and memory limit: as much as it takes to make it again.
type Request struct {
	Model        answer.Given `json:"model"`               // the program
	Topology     string       `json:"topology,omitempty"`  // part of the hardware's network that the mesh runs on
	Devices      int64        `json:"devices,omitempty"`   // that a mesh was to be chosen for; absent where the mesh was given
	Steps        int64        `json:"steps"`               // budget; 0: none
	Seed         uint64       `json:"seed"`                // of the search
	SearchMemory int64        `json:"searchMemory"`        // bytes that planning may hold; 0: the default
	Pins         []Pin        `json:"pins"`                // beside those of the model; of two for one value the last counts
	Forbidden    []Forbid     `json:"forbidden"`           // axes that are kept away from inputs and outputs
	Budgets      []Budget     `json:"budgets"`             // that a step's collectives keep
	TripCounts   []TripCount  `json:"tripCounts"`          // of loops that the data ends
	WholeAxes    bool         `json:"wholeAxes,omitempty"` // dimensions are cut along whole axes only
	Taste        float64      `json:"taste"`               // part of a step that plainer inputs may take more; 0: none
	Without      []string     `json:"without"`             // names of rewrites that were switched off
	From         string       `json:"from,omitempty"`      // hash of the plan that the search began with; absent for none
}

// Hashes tell whether a plan, and what it was made from, are as they were. Each is sha256: and 64 hexadecimal digits.
type Hashes struct {
	Model    string `json:"model"`    // of the file of the model, unpacked
	Hardware string `json:"hardware"` // of the profile that it was priced with
	Options  string `json:"options"`  // of mesh, memory limit, options and the hash of the hardware
	Plan     string `json:"plan"`     // of everything in the plan but this hash
}

// request returns what a plan is asked for.
func (p *planner) request() Request {
	given := p.source.Given
	given.Sizes, given.Rules = append([]string{}, given.Sizes...), append([]string{}, given.Rules...)
	from := ""
	if p.From != nil {
		from = p.From.Hashes.Plan
	}
	return Request{From: from,
		Model: given, Topology: p.Hardware.Topology, Devices: p.Devices, Steps: p.Steps, Seed: p.Seed, SearchMemory: p.SearchMemory,
		Pins: append([]Pin{}, p.Pins...), Forbidden: append([]Forbid{}, p.Forbidden...),
		Budgets:    append([]Budget{}, p.Budgets...),
		TripCounts: append([]TripCount{}, p.TripCounts...), WholeAxes: p.WholeAxes, Taste: p.taste(),
		Without: lists.Map(p.Without.List(), rewrites.Rewrite.String)}
}

// seal writes what the bound of a plan is about, and the hashes of the plan, which is complete but for that.
func (p *Plan) seal(model string, hardware *cost.Hardware) {
	p.Certificate.Scope = p.Scope()
	p.Hashes.Model, p.Hashes.Hardware = model, hashOf(hardware)
	p.Hashes.Options = p.optionsHash()
	p.Hashes.Plan = p.contentHash()
}

// optionsHash returns the hash of what the plan was asked for.
func (p *Plan) optionsHash() string {
	return hashOf(struct {
		Mesh     []answer.MeshAxis
		Memory   int64
		Options  Request
		Hardware string
	}{p.Mesh, p.Memory, p.Options, p.Hashes.Hardware})
}

// contentHash returns the hash of everything but itself. The program, most of it, counts by its own hash.
func (p *Plan) contentHash() string {
	content := *p
	content.Hashes.Plan, content.Program = "", answer.Hash(p.Program)
	return hashOf(&content)
}

// hashOf returns the hash of a value's JSON form without spaces, with names in order, and without members that are empty or zero: a version
// that has more of them finds the same hash for what it reads.
func hashOf(value any) string {
	text, err := json.Marshal(value)
	var plain any
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		err = d.Decode(&plain)
	}
	if err == nil {
		text, err = json.Marshal(withoutEmpty(plain))
	}
	if err != nil {
		panic(fmt.Sprintf("plan: %T has no JSON form: %v", value, err))
	}
	return answer.Hash(text)
}

// withoutEmpty returns a JSON value without members that are empty or zero, nil for one that is so itself.
func withoutEmpty(value any) any {
	switch x := value.(type) {
	case map[string]any:
		for name, member := range x {
			if member = withoutEmpty(member); member == nil {
				delete(x, name)
			} else {
				x[name] = member
			}
		}
		if len(x) == 0 {
			return nil
		}
	case []any:
		if len(x) == 0 {
			return nil
		}
		for i := range x {
			x[i] = withoutEmpty(x[i])
		}
	case json.Number:
		if x == "0" {
			return nil
		}
	case string:
		if x == "" {
			return nil
		}
	case bool:
		if !x {
			return nil
		}
	}
	return value
}

// optionTexts returns what a plan was asked for as pairs of a name and a text, in a fixed order.
func optionTexts(p *Plan) [][2]string {
	o := &p.Options
	switches := func(on bool) string { return map[bool]string{true: "on", false: "off"}[on] }
	pins := lists.Map(o.Pins, func(pin Pin) string { return pin.Value + "=" + pin.Sharding })
	forbidden := lists.Map(o.Forbidden, func(f Forbid) string { return f.Value + ": " + strings.Join(f.Axes, ",") })
	budgets := lists.Map(o.Budgets, func(b Budget) string { return b.String() })
	count := func(n int64) string { return map[bool]string{false: fmt.Sprint(n)}[n == 0] }
	trips := lists.Map(o.TripCounts, func(t TripCount) string { return strings.TrimPrefix(fmt.Sprintf("%s=%d", t.Loop, t.Count), "=") })
	return [][2]string{{"model", p.Model}, {"file", o.Model.File}, {"model's hash", p.Hashes.Model}, {"mesh", answer.FormatAxes(p.Mesh)},
		{"hardware", p.Hardware}, {"hardware's hash", p.Hashes.Hardware}, {"topology", o.Topology},
		{"devices", count(o.Devices)}, {"memory", diag.Bytes(p.Memory)},
		{"dim", strings.Join(o.Model.Sizes, " ")}, {"platform", o.Model.Platform}, {"rule", strings.Join(o.Model.Rules, "; ")},
		{"pin", strings.Join(pins, "; ")}, {"forbid", strings.Join(forbidden, "; ")},
		{"budget", strings.Join(budgets, "; ")},
		{"steps", fmt.Sprint(o.Steps)}, {"seed", fmt.Sprint(o.Seed)}, {"search-memory", diag.Bytes(o.SearchMemory)},
		{"trip-count", strings.Join(trips, " ")}, {"no-sub-axes", switches(o.WholeAxes)}, {"without", strings.Join(o.Without, ",")},
		{"taste", fmt.Sprintf("%.3g %%", 100*o.Taste)}, {"from", o.From}}
}
