package program

import (
	"cmp"
	"context"
	"slices"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/diag"
	idiag "autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// Watched is a run, with what devices held of some values.
type Watched struct {
	Result *Result
	Axes   []string // of the mesh
	Sights []Sight  // in the order in which devices come to them
}

// Sight is what devices held of a value at one moment, or of several that a call into Python reads.
type Sight struct {
	Moment  string        // made; before or after a collective, whose operand or result it is; called: a call into Python reads it
	Values  []string      // their names in the text of the program: one, but for calls
	Op      string        // the collective or call, as the text has it
	At      diag.Position // where the collective or call stands in the source that it comes from, if that is known
	Time    int           // how often the run had come there before: iterations of loops
	Devices []Held        // of those that came there, by number
}

// Held are the blocks of one device.
type Held struct {
	Device      int64
	Coordinates []int64         // on the axes
	Blocks      []tensor.Tensor // of each value
}

// Watch runs the program as [Program.Run] does and looks at the values of these names, or, where no names are given, at what each
// collective reads and makes and what calls into Python, such as of jax.debug.print, read. Names are those of the text that
// [Program.Emit] writes as shardmap; a plan is run as that program. Errors are those of Run and [Program.ShardMap], of class
// diag.ErrInvalid for an unknown name, and diag.ErrTooLarge where a loop passes a value too often.
func (p *Program) Watch(ctx context.Context, inputs []*tensor.Tensor, names []string) (w *Watched, err error) {
	defer idiag.Recover("run", &err)
	s, err := p.ShardMap(ctx)
	if err != nil {
		return nil, err
	}
	ran, err := run.Watch(ctx, s.typed, names, s.stored.pad(inputs), run.Options{WholeWindows: true, MaxBytes: p.most})
	if err != nil {
		return nil, err
	}
	s.stored.trim(ran.Outputs)
	w = &Watched{Result: s.resultOf(ran.Result)}
	for _, axis := range ran.Mesh.Axes {
		w.Axes = append(w.Axes, axis.Name)
	}
	for i := range ran.Sights {
		seen := &ran.Sights[i]
		sight := Sight{Moment: seen.Probe.Moment.String(), Values: seen.Probe.Values, Op: seen.Probe.Op, At: seen.Probe.At, Time: seen.Time}
		for place := range ran.Mesh.Devices() {
			if held := seen.Blocks[ran.Mesh.DeviceID(place)]; held != nil {
				sight.Devices = append(sight.Devices, Held{ran.Mesh.DeviceID(place), coordinates(&ran.Mesh, place), held})
			}
		}
		slices.SortFunc(sight.Devices, func(a, b Held) int { return cmp.Compare(a.Device, b.Device) })
		w.Sights = append(w.Sights, sight)
	}
	return w, nil
}

// coordinates returns where a place is on each axis of a mesh.
func coordinates(mesh *subaxis.Mesh, place int64) []int64 {
	return lists.Map(mesh.All(), func(axis subaxis.Ref) int64 { return mesh.Coordinate(place, axis) })
}
