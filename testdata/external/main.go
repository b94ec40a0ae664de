// Command external uses autoshard as a program of another module does: it sees public packages alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/report"
	"autoshard/subaxis"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1]); err != nil {
		for _, d := range autoshard.Diagnostics(err) {
			log.Printf("%s %s: %s", d.Code, d.Pos, d.Message)
		}
		log.Fatal(err)
	}
}

// mesh is that of all answers.
var mesh = []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}

func run(ctx context.Context, file string) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	model, err := autoshard.ReadModel(ctx, "mlp.json", src)
	if err != nil {
		return err
	}
	propagation, err := autoshard.Propagate(ctx, model, autoshard.PropagateOptions{Mesh: mesh})
	if err != nil {
		return err
	}
	fmt.Println("propagated", propagation.Model, "with", len(propagation.Inputs), "inputs")
	if err := tooSmall(ctx, model); err != nil {
		return err
	}
	plan, err := autoshard.MakePlan(ctx, model, autoshard.PlanOptions{Mesh: mesh, Memory: 24 << 10, Steps: 1_000_000})
	if err != nil {
		return err
	}
	fmt.Println("planned for", plan.Hardware, "certificate", plan.Certificate.Status)
	if report.Plan(plan, report.Options{}) == "" {
		return errors.New("the report is empty")
	}
	program, err := plan.Lowered(ctx)
	if err != nil {
		return err
	}
	if err := use(ctx, program); err != nil {
		return err
	}
	text, err := program.Emit(ctx, "shardmap")
	if err != nil {
		return err
	}
	again, err := autoshard.ReadProgram(ctx, "mlp.shardmap", text)
	if err != nil {
		return err
	}
	result, err := again.Run(ctx, inputs(again))
	if err != nil {
		return err
	}
	fmt.Println("the shard_map program gives", len(result.Outputs), "outputs")
	return nil
}

// tooSmall plans for devices that hold nothing: the error says what would.
func tooSmall(ctx context.Context, model *autoshard.Model) error {
	_, err := autoshard.MakePlan(ctx, model, autoshard.PlanOptions{Mesh: mesh, Memory: 1 << 10, Steps: 100_000})
	if !errors.Is(err, autoshard.ErrInfeasible) {
		return fmt.Errorf("a plan for 1 KiB: %w", err)
	}
	d := autoshard.Diagnostics(err)[0]
	fmt.Println("refused:", d.Code, "with notes:", len(d.Notes) > 0)
	return nil
}

// use does with a program what can be done with one.
func use(ctx context.Context, program *autoshard.Program) error {
	result, err := program.Run(ctx, inputs(program))
	if err != nil {
		return err
	}
	check, err := program.Verify(ctx, inputs(program), result.Outputs, autoshard.Tolerance{})
	if err != nil {
		return err
	}
	fmt.Println("ran on", program.Devices(), "devices, verified:", check.Passed)
	hardware, err := cost.Lookup("h100")
	if err != nil {
		return err
	}
	estimate, err := program.Estimate(ctx, hardware)
	if err != nil {
		return err
	}
	fmt.Println("estimated:", estimate.Seconds > 0)
	for _, form := range autoshard.EmitForms() {
		text, err := program.Emit(ctx, form)
		if err != nil {
			return err
		}
		fmt.Println("emitted", form, len(text) > 0)
	}
	return nil
}

// inputs returns zeros of the types that a program takes.
func inputs(program *autoshard.Program) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(program.Inputs))
	for i, in := range program.Inputs {
		dt, shape, _ := in.Shape()
		t := tensor.New(dt, shape)
		out[i] = &t
	}
	return out
}
