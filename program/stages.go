package program

import (
	"context"
	"strings"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/padding"
	"autoshard/shardmap"
	"autoshard/shardmap/merge"
	"autoshard/shardmap/ring"
)

// stages are the forms that lowering goes through, in order.
var stages = []struct {
	name  string
	write func(context.Context, *Program) ([]byte, error)
}{
	{"reshards", printReshards},
	{"collectives", printCollectives},
	{"local", printLocal},
}

// Stages returns the names of the forms that lowering goes through, in order.
func Stages() []string {
	names := make([]string, len(stages))
	for i := range stages {
		names[i] = stages[i].name
	}
	return names
}

// Stage returns the program as it is after a stage of lowering, as MLIR text: on whole tensors with a reshard wherever a value is not as
// its reader needs it ("reshards"), with the collectives that these are ("collectives"), or on the blocks of one device ("local"), as
// "stablehlo" of [Program.Emit], but with every collective by itself: XLA merges them again, and refuses merged ones in programs that
// are partitioned already. Errors are of class diag.ErrInvalid for an unknown stage and for the first two stages of a shard_map
// program, which is written on blocks; or they are the context's.
func (p *Program) Stage(ctx context.Context, name string) (text []byte, err error) {
	defer diag.Recover("lower", &err)
	for i := range stages {
		if stages[i].name != name {
			continue
		}
		if p.whole == nil && name != "local" {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "a shard_map program says what a device does with its blocks: it has no "+
				"stage %q", name)
		}
		return stages[i].write(ctx, p)
	}
	return nil, diag.Invalid(diag.BadOption, diag.Position{}, "unknown stage %q: stages are %s", name, strings.Join(Stages(), ", "))
}

func printReshards(ctx context.Context, p *Program) ([]byte, error) {
	m := p.partitioned()
	collectives.Collapse(m)
	return p.printForXLA(ctx, m)
}

func printCollectives(ctx context.Context, p *Program) ([]byte, error) {
	return p.printForXLA(ctx, p.partitioned())
}

func printLocal(ctx context.Context, p *Program) ([]byte, error) {
	if p.whole == nil || p.whole.Attrs.Get(merge.Attr) == nil {
		return emitStableHLO(ctx, p)
	}
	m := p.whole.Clone()
	ir.ForgetTrips(m)
	merge.Forget(m)
	mesh, err := answer.ChooseMesh(m, nil)
	if err != nil {
		return nil, err
	}
	device, err := PerDevice(ctx, m, mesh)
	if err != nil {
		return nil, err
	}
	if err := shardmap.LowerAxes(ctx, device); err != nil {
		return nil, err
	}
	return p.printDevice(ctx, device)
}

// partitioned returns a copy of the partitioned program without what it asks of our own lowering.
func (p *Program) partitioned() *ir.Module {
	m := p.whole.Clone()
	ir.ForgetTrips(m)
	merge.Forget(m)
	ring.Forget(m)
	padding.Forget(m)
	return m
}
