package run

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// maxSights bounds how often a device is looked at in one run.
const maxSights = 1000

// Sight is what devices hold of the values of a probe at one moment of a run.
type Sight struct {
	Probe  typed.Probe
	Time   int               // how often the probe was passed before
	Blocks [][]tensor.Tensor // by device and value, nil for devices that did not come there
}

// Watched is a run that was looked at.
type Watched struct {
	*Result
	Mesh   subaxis.Mesh // of the manual axes, whose places are the devices
	Sights []Sight      // in the order in which devices pass them
}

// Watch is Typed that looks at the values of these names, or, where no names are given, at what each collective reads and makes and what
// calls into Python read. It fails with diag.ErrTooLarge where a loop passes a probe too often.
func Watch(ctx context.Context, p *typed.Program, names []string, inputs []*tensor.Tensor, opts Options) (*Watched, error) {
	if err := ready(p, inputs); err != nil {
		return nil, err
	}
	device, probes, err := p.LowerProbed(names)
	if err != nil {
		return nil, err
	}
	w := &watch{passed: make([][]passing, device.Mesh.Devices())}
	w.left.Store(cmp.Or(opts.MaxBytes, interp.DefaultMaxBytes))
	opts.Observe = w.see
	result, err := execute(ctx, p, device, inputs, opts)
	if err != nil {
		return nil, err
	}
	return &Watched{Result: result, Mesh: device.Mesh, Sights: w.sights(probes)}, nil
}

// passing is a probe that a device passes, and what it holds then.
type passing struct {
	probe, time int
	blocks      []tensor.Tensor
}

// watch collects what devices pass. Each device writes a list of its own.
type watch struct {
	passed [][]passing
	left   atomic.Int64 // bytes that blocks may still take
}

func (w *watch) see(m *ir.Module, device int, s *interp.Step) error {
	probe, ok := typed.ProbeOf(m, s.Op)
	if !ok {
		return nil
	}
	list := w.passed[device]
	if len(list) == maxSights {
		return diag.TooLarge(diag.InputTooLarge, diag.Position{}, "a device passes more than %d values that are to be printed: name some that "+
			"are outside of loops", maxSights)
	}
	for i := range s.Operands {
		if w.left.Add(-int64(len(s.Operands[i].Data))) < 0 {
			return diag.TooLarge(diag.InputTooLarge, diag.Position{}, "what is to be printed takes more memory than the run may: name fewer values")
		}
	}
	time := len(lists.Filter(list, func(p passing) bool { return p.probe == probe }))
	w.passed[device] = append(list, passing{probe, time, slices.Clone(s.Operands)})
	return nil
}

// sights puts together what devices held at the same moment. A moment has the place that it has on the first device that comes to it.
func (w *watch) sights(probes []typed.Probe) []Sight {
	type moment struct{ probe, time int }
	at := map[moment]int{}
	var places []int
	var out []Sight
	for device, list := range w.passed {
		for place, p := range list {
			key := moment{p.probe, p.time}
			i, seen := at[key]
			if !seen {
				i = len(out)
				at[key] = i
				places = append(places, place)
				out = append(out, Sight{Probe: probes[p.probe], Time: p.time, Blocks: make([][]tensor.Tensor, len(w.passed))})
			}
			out[i].Blocks[device] = p.blocks
		}
	}
	order := lists.Range[int](len(out))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	return lists.Pick(out, order)
}
