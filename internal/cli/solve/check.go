package solve

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/search"
	"autoshard/search/certify"
	"autoshard/search/iopddl"
)

func checkCommand(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE ASSIGNMENT",
		Short: "Evaluate a solution",
		Long: `Evaluate a solution of a problem exactly: its cost, its peak usage, and whether it keeps the limit and uses no forbidden entry.
ASSIGNMENT is a file with a JSON list, an output of ` + "`autoshard solve`" + `, or the list itself. The exit code is 0 if the solution is
feasible, 1 if it is not, and 2 if it is no solution at all.`,
		Example: `  autoshard solve check problem.json.gz solution.txt
  autoshard solve check problem.json '[0, 1, 0]' --format json`,
		Args: cmdline.Args("FILE", "ASSIGNMENT"),
		RunE: cmdline.WithConfig(func(_ context.Context, c *config.Config, args []string) error {
			return check(s, c, args[0], args[1])
		}),
	}
	config.AddFlags(cmd.Flags(), "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	return cmd
}

// evaluation is the output of check as JSON. Costs are exact, so they may need more than 64 bits.
type evaluation struct {
	Schema    string   `json:"schema"`
	Feasible  bool     `json:"feasible"`
	Cost      *big.Int `json:"cost"`
	Peak      *big.Int `json:"peak"`
	PeakTime  int64    `json:"peakTime"`
	Limit     *int64   `json:"limit,omitempty"`
	Over      int64    `json:"stepsOverLimit"`
	OverTime  *int64   `json:"firstOverLimit,omitempty"`
	Forbidden int      `json:"forbidden"`
}

func check(s *cmdline.Streams, c *config.Config, file, assignment string) error {
	solution, err := readSolution(s, assignment)
	if err != nil {
		return err
	}
	r, name, err := open(s, file)
	if err != nil {
		return err
	}
	defer r.Close()
	e, err := iopddl.Options{}.Evaluate(r, name, solution)
	if err != nil {
		return err
	}
	if err := s.Write(c.Output, evaluated(c, e)); err != nil || e.Feasible() {
		return err
	}
	return diag.Finding(diag.NotFeasible, diag.Position{File: name}, "the solution %s", strings.Join(faults(e), " and "))
}

// readSolution reads a solution from a file, or the argument itself if that is a list.
func readSolution(s *cmdline.Streams, argument string) (*iopddl.Solution, error) {
	if strings.HasPrefix(argument, "[") {
		return iopddl.ReadSolution(strings.NewReader(argument), "ASSIGNMENT")
	}
	r, name, err := open(s, argument)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return iopddl.ReadSolution(r, name)
}

func evaluated(c *config.Config, e *iopddl.Evaluation) []byte {
	if c.Format == config.JSON {
		d := evaluation{"autoshard.evaluation/v1", e.Feasible(), e.Cost, e.Peak, e.PeakTime, nil, e.Over, nil, e.Forbidden}
		if e.HasLimit {
			d.Limit = &e.Limit
		}
		if e.Over > 0 {
			d.OverTime = &e.OverTime
		}
		return encode(&d)
	}
	limit := "no limit"
	if e.HasLimit {
		limit = fmt.Sprintf("limit %d", e.Limit)
	}
	feasible := "yes"
	if !e.Feasible() {
		feasible = "no"
	}
	return fmt.Appendf(nil, "cost %v\npeak %v at time %d, %s\nfeasible %s\n", e.Cost, e.Peak, e.PeakTime, limit, feasible)
}

// faults says what keeps a solution from being feasible.
func faults(e *iopddl.Evaluation) []string {
	var out []string
	if e.Over > 0 {
		out = append(out, fmt.Sprintf("is above the limit in %s, first at time %d", diag.Count(int(e.Over), "time step", "time steps"),
			e.OverTime))
	}
	if e.Forbidden > 0 {
		out = append(out, fmt.Sprintf("uses %s of at least %d, which are forbidden", diag.Count(e.Forbidden, "entry", "entries"),
			search.Forbidden))
	}
	return out
}

func verifyCommand(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify FILE CERTIFICATE",
		Short: "Check the proof of a bound",
		Long: `Check a certificate of ` + "`autoshard solve --certificate`" +
			` against its problem, with integers only and without the code of the solver:
no solution costs less than the bound, and the solution in the certificate has the cost that it says. docs/certificate.md
describes the format. The exit code is 0 if the certificate holds, and 2 if it does not.`,
		Example: `  autoshard solve verify problem.json.gz proof.json.gz`,
		Args:    cmdline.Args("FILE", "CERTIFICATE"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return verify(ctx, s, c, args[0], args[1])
		}),
	}
	config.AddFlags(cmd.Flags(), "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	return cmd
}

// proven is the output of verify as JSON.
type proven struct {
	Schema  string   `json:"schema"`
	Bound   int64    `json:"bound"`
	Cost    *int64   `json:"cost,omitempty"`
	Gap     *float64 `json:"gap,omitempty"`
	Optimal bool     `json:"optimal"`
}

func verify(ctx context.Context, s *cmdline.Streams, c *config.Config, file, certificate string) error {
	_, problem, err := s.Read(ctx, file)
	if err != nil {
		return err
	}
	name, proof, err := s.Read(ctx, certificate)
	if err != nil {
		return err
	}
	r, err := certify.Verify(problem, proof)
	if err != nil {
		for i, d := 0, diag.Diagnostics(err); i < len(d); i++ {
			d[i].Pos.File = map[bool]string{true: name, false: file}[strings.HasPrefix(d[i].Message, "certificate")]
		}
		return err
	}
	return s.Write(c.Output, verified(c, r))
}

func verified(c *config.Config, r certify.Result) []byte {
	gap := search.Result{Cost: r.Cost, Bound: r.Bound}.Gap()
	optimal := r.HasCost && r.Bound >= r.Cost
	if c.Format == config.JSON {
		d := proven{Schema: "autoshard.verification/v1", Bound: r.Bound, Optimal: optimal}
		if r.HasCost {
			d.Cost, d.Gap = &r.Cost, &gap
		}
		return encode(&d)
	}
	text := fmt.Sprintf("bound %d\n", r.Bound)
	if r.HasCost {
		text += fmt.Sprintf("cost %d\ngap %.4f%%\n", r.Cost, 100*gap)
	}
	if optimal {
		text += "optimal\n"
	}
	return []byte(text)
}
