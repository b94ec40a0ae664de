package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/program"
	"autoshard/remat"
	"autoshard/rewrites"
	"autoshard/shardmap"
)

// recompute makes values of a program with explicit collectives again where they are needed, until a device holds no more than the program
// is to.
func (p *planner) recompute(ctx context.Context, l *lowered) error {
	device, err := deviceOf(ctx, p.model, l.explicit, p.mesh)
	if err != nil {
		return err
	}
	stacks, err := device.ChooseStacks(ctx, l.most)
	if err != nil {
		return err
	}
	if len(stacks) > 0 {
		stacks.Apply(device, l.explicit)
		ir.EraseDead(l.explicit)
		if device, err = deviceOf(ctx, p.model, l.explicit, p.mesh); err != nil {
			return err
		}
	}
	chosen, err := device.Choose(ctx, l.most)
	if err != nil {
		return err
	}
	chosen.Apply(l.explicit)
	ir.EraseDead(l.explicit)
	l.again, l.exhausted = len(stacks)+chosen.Len(), chosen.Short
	return nil
}

// deviceOf returns what a device holds and does of a program with explicit collectives.
func deviceOf(ctx context.Context, model *estimate.Model, explicit *ir.Module, mesh ir.MeshID) (*remat.Device, error) {
	program, err := shardmap.Lower(ctx, explicit.Clone(), mesh)
	if err != nil {
		return nil, err
	}
	step, err := model.Program(ctx, program)
	if err != nil {
		return nil, err
	}
	sent := map[ir.OpID]int64{}
	for i := range program.Collectives {
		if c := &program.Collectives[i]; c.From != 0 {
			sent[c.From] += step.Collectives[i] / max(c.Runs, 1)
		}
	}
	return remat.NewDevice(explicit, mesh, model, sent), nil
}

// describeRecomputed lists what a program with explicit collectives makes again.
func describeRecomputed(ctx context.Context, model *estimate.Model, explicit *ir.Module, mesh ir.MeshID) ([]Recomputed, error) {
	list := []Recomputed{}
	if !remat.Repeats(explicit) {
		return list, nil
	}
	device, err := deviceOf(ctx, model, explicit, mesh)
	if err != nil {
		return nil, err
	}
	for _, r := range device.Repeated() {
		name := explicit.OpName(r.Op)
		list = append(list, Recomputed{Op: name[strings.LastIndexByte(name, '.')+1:],
			Type: answer.FormatType(r.Type, r.Type.Dims), Count: r.Runs,
			Seconds: float64(r.Picoseconds*r.Runs) / program.Picoseconds, Source: answer.Scoped(explicit, explicit.OpLoc(r.Op))})
	}
	return list, nil
}

// mostCrowded bounds the programs that are remembered because they would be faster than the best plan but for the memory.
const mostCrowded = 8

// worthwhile is the part of a step by which a program that does not fit has to be faster, or of its memory by which it has to hold less.
const worthwhile = 100

// roomier are multiples of the memory limit, or of what programs need at least, under which plans are searched whose values may be made
// again.
var roomier = [...]float64{1.05, 1.2, 1.5}

// roomiest are multiples of the memory limit under which plans are searched first.
var roomiest = [...]float64{4, 1.5}

// roomierAttempts bounds how often one is searched under each, and what is less by what values made again do not save.
const roomierAttempts = 3

// crowd remembers a program that does not fit, but whose inputs do, unless another one is as fast and holds no more: of many the fastest,
// and those that hold the least.
func (c *choice) crowd(l *lowered) {
	if l.step.Peak <= c.Memory || l.again > 0 || l.inputBytes() >= c.Memory || slices.ContainsFunc(c.crowded, l.isOutdoneBy) {
		return
	}
	// copies of a choice share the list, which is changed in none
	c.crowded = slices.DeleteFunc(slices.Clone(c.crowded), func(other *lowered) bool { return other.isOutdoneBy(l) })
	i, _ := slices.BinarySearchFunc(c.crowded, l, func(a, b *lowered) int { return cmp.Compare(a.step.Total(), b.step.Total()) })
	if c.crowded = slices.Insert(c.crowded, i, l); len(c.crowded) > mostCrowded {
		c.crowded = slices.Delete(c.crowded, 1, 2)
	}
}

// isOutdoneBy says whether another program is as fast and holds no more.
func (l *lowered) isOutdoneBy(other *lowered) bool {
	return other.step.Total() <= l.step.Total() && other.step.Peak <= l.step.Peak
}

// inputBytes returns what the inputs of a device take.
func (l *lowered) inputBytes() (bytes int64) {
	m := l.program.Module
	for _, arg := range m.BlockArgs(m.Func(l.program.Main).Body) {
		bytes += m.ValueType(arg).Bytes()
	}
	return bytes
}

// recomputing offers programs that do not fit with values made again until they do: those that would be faster than the best plan and,
// where there is no plan, the one that needs least, to know how little it can need. Programs of the latest level under larger limits are
// searched for that first.
func (c *choice) recomputing(ctx context.Context) error {
	if c.Without.Has(rewrites.RecomputeActivations) || c.screening && !c.isSlow() {
		return nil
	}
	if c.best != nil && !c.binding() && !slices.ContainsFunc(c.crowded, c.faster) {
		return nil
	}
	if err := c.searchRoomier(ctx); err != nil {
		return err
	}
	crowded := slices.Clip(c.crowded)
	if c.best == nil && !slices.Contains(c.crowded, c.least) {
		crowded = append(crowded, c.least)
	}
	_, err := c.squeezeAll(ctx, crowded)
	return err
}

// squeezeFirst offers the fast programs that were met so far, baselines among them, with values made again, before anything that takes
// longer is tried.
func (c *choice) squeezeFirst(ctx context.Context, _ *level) error {
	if c.Without.Has(rewrites.RecomputeActivations) || c.screening && c.parts == 0 || c.best == nil {
		return nil
	}
	_, err := c.squeezeAll(ctx, c.crowded)
	return err
}

// squeezeAll offers programs that would be faster than the best plan with values made again until they fit, each once. It returns by how
// much the one of them exceeds the limit even so that comes nearest to it, 0 where one fits or none was tried.
func (c *choice) squeezeAll(ctx context.Context, crowded []*lowered) (over int64, err error) {
	before := c.best
	for _, l := range crowded {
		if c.over(ctx) || !c.faster(l) || slices.ContainsFunc(c.squeezed, func(s *lowered) bool { return c.promisesNoMore(l, s) }) {
			continue
		}
		c.tell("recompute")
		c.squeezed = append(slices.Clip(c.squeezed), l)
		more, err := c.squeeze(ctx, l)
		if err != nil {
			if ctx.Err() != nil {
				err = c.late.Err()
			}
			return 0, err
		}
		if c.best != before {
			over, before = 0, c.best
		} else if more > 0 && (over == 0 || more < over) {
			over = more
		}
	}
	return over, nil
}

// promisesNoMore says whether making values of a program again is not expected to lead further than it did with another one: that takes as
// long and holds as much, and may well be the same, or where there is a plan is as fast and holds hardly more.
func (c *choice) promisesNoMore(l, than *lowered) bool {
	if c.best == nil {
		return than.step.Total() == l.step.Total() && than.step.Peak == l.step.Peak
	}
	return than.step.Total() <= l.step.Total() && than.step.Peak <= l.step.Peak+l.step.Peak/worthwhile
}

// faster says whether a program is faster than the best plan, if there is one, by so much that making values again may be worth while. As
// long as there is none of the batch in parts, that is the best of the whole batch.
func (c *choice) faster(l *lowered) bool {
	best := c.best
	if best == nil {
		best = c.fittingWhole()
	}
	return best == nil || l.step.Total() < best.step.Total()-best.step.Total()/worthwhile
}

// roomFirst searches a level, unless it is large, under much larger limits, where time or steps are limited and the best plan is slow:
// where nearly all that does not fit can be made again, plans are as fast as without a limit, and are found in a fraction of the time that
// a search under the limit takes.
func (c *choice) roomFirst(ctx context.Context, l *level) error {
	if !c.hasty || c.Without.Has(rewrites.RecomputeActivations) || c.isLarge() || !c.confined() || !c.isSlow() {
		return nil
	}
	for _, times := range roomiest {
		if _, err := c.searchRoomy(ctx, l, int64(times*float64(c.Memory))); err != nil {
			return err
		}
	}
	return nil
}

// searchRoomier searches the latest level under larger limits, where there may be a faster plan than the best one. Where values made again
// do not make it fit, it searches for one that is to hold as much less.
func (c *choice) searchRoomier(ctx context.Context) error {
	if c.last == nil {
		return nil
	}
	least := float64(max(c.Memory, c.least.step.Peak))
	for _, times := range roomier {
		limit := int64(times * least)
		for range roomierAttempts {
			over, err := c.searchRoomy(ctx, c.last, limit)
			if err != nil {
				return err
			}
			if limit -= over; over == 0 || limit <= c.Memory {
				break
			}
		}
	}
	return nil
}

// searchRoomy searches a level under a larger limit, and again with collectives sent as one with those of what it finds, and makes values
// again until that fits. It returns by how much it exceeds the limit even so, 0 where it does not, or nothing is found.
func (c *choice) searchRoomy(ctx context.Context, l *level, limit int64) (over int64, err error) {
	found, err := c.searchUnder(ctx, l, limit)
	if err == nil && found != nil {
		err = c.meeting(ctx, l, found, limit)
	}
	if err != nil || found == nil {
		return 0, err
	}
	return c.squeezeAll(ctx, c.crowded)
}

// searchUnder searches a level under another memory limit, and tries and returns what it finds, nil for nothing.
func (c *choice) searchUnder(ctx context.Context, l *level, limit int64) ([]int32, error) {
	if c.over(ctx) {
		return nil, nil
	}
	result, err := c.briefly(ctx, l, limit, searchSteps/4)
	if err != nil || result.Solution == nil {
		return nil, err
	}
	found := l.space.Own(result.Solution)
	_, err = c.try(ctx, l, found)
	return found, err
}

// squeeze offers a program with values made again until it fits. What the program that runs holds more than was counted, it is to hold less
// the next time, as long as there is more to make again and that halves what is missing, which it returns at last. Where none fits, and
// there is no plan, it offers the one that holds as little as can be, which is the same under any limit.
func (c *choice) squeeze(ctx context.Context, l *lowered) (over int64, err error) {
	over = math.MaxInt64
	for most := c.Memory; most > 0; most -= over {
		found, err := c.lowerAgain(ctx, l, most)
		if err != nil {
			return 0, err
		}
		before := over
		if over = found.step.Peak - c.Memory; over <= 0 {
			c.offer(found)
			return 0, nil
		}
		if found.again == 0 || found.exhausted || over > before/2 {
			break
		}
	}
	if c.best != nil {
		return over, nil
	}
	found, err := c.lowerAgain(ctx, l, 1)
	if err == nil {
		c.offer(found)
	}
	return over, err
}

// lowerAgain returns a program with values made again until a device holds no more than some bytes.
func (c *choice) lowerAgain(ctx context.Context, l *lowered, most int64) (*lowered, error) {
	from := l.layouts
	from.most = most
	return c.lowerWithout(ctx, from, l.without&^rewrites.Of(rewrites.RecomputeActivations), 0)
}

// withRecomputing says what plan there would be if values were made again, where that is switched off.
func (c *choice) withRecomputing(ctx context.Context) ([]string, error) {
	again := rewrites.Of(rewrites.RecomputeActivations)
	if c.Without&again == 0 {
		return nil, nil
	}
	other, p := *c, *c.planner
	p.Without &^= again
	other.planner = &p
	err := other.recomputing(ctx)
	c.spent = other.spent
	if err != nil || other.best == nil {
		return nil, err
	}
	return []string{fmt.Sprintf("with recompute-activations, which is switched off, there is a plan that needs %s and takes %s: %s made again",
		diag.Bytes(other.best.step.Peak), diag.Seconds(float64(other.best.step.Total())/program.Picoseconds),
		diag.Count(other.best.again, "value is", "values are"))}, nil
}
