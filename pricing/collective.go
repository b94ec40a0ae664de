package pricing

import (
	"slices"
	"strings"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/notation"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// CollectiveSchema identifies the JSON form of a CollectiveAnswer.
const CollectiveSchema = "autoshard.collective/v1"

// CollectiveRequest asks what a communication takes.
type CollectiveRequest struct {
	Setting
	Kind  string // one of Kinds
	Array string // before: bf16[B_X, D_Y]
	Over  string // the axes of the mesh: X, XY or data,model
	Shift int64  // of a shift: how many places up the axis
	From  int64  // of a send: the device that sends
	To    int64  // of a send: the device that receives
}

// CollectiveAnswer is what it takes. Times are in seconds, sizes in bytes.
type CollectiveAnswer struct {
	Schema string `json:"schema"`
	Kind   string `json:"kind"`
	Array  string `json:"array"`
	Axes   string `json:"axes,omitempty"`
	Place
	Group       int64   `json:"group"`       // devices that communicate with each other
	BlockBytes  int64   `json:"blockBytes"`  // of a device before
	Bytes       int64   `json:"bytes"`       // V: of the array in one group; of a shift or a send what one device sends
	DeviceBytes int64   `json:"deviceBytes"` // that a device sends
	SentBytes   int64   `json:"sentBytes"`   // that all devices send
	Bandwidth   float64 `json:"bandwidthSeconds"`
	Latency     float64 `json:"latencySeconds"`
	Overhead    float64 `json:"overheadSeconds"`
	Hops        int64   `json:"hops"`
	Seconds     float64 `json:"seconds"`
	Bound       string  `json:"bound"`            // bandwidth or latency
	Levels      []Level `json:"levels,omitempty"` // of switches: what each needs at least
	Ours        float64 `json:"ours"`             // seconds by the conventions that plans are made by
}

// Level is what a level of switches needs for a collective.
type Level struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// The communications that are no kind of collective between groups.
const (
	shift = "shift"
	send  = "send"
)

var collectiveKinds = []collectives.Kind{collectives.AllGather, collectives.ReduceScatter, collectives.AllReduce, collectives.AllToAll}

// Kinds returns the communications that can be asked for.
func Kinds() []string {
	return append(lists.Map(collectiveKinds, collectives.Kind.String), shift, send)
}

// Collective returns what a communication takes. Errors are of class diag.ErrInvalid or diag.ErrTooLarge.
func Collective(r *CollectiveRequest) (*CollectiveAnswer, error) {
	q, err := r.Setting.read()
	if err != nil {
		return nil, err
	}
	if known := Kinds(); !slices.Contains(known, r.Kind) {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "unknown collective %q%s", r.Kind, diag.DidYouMean(r.Kind, known)).
			WithNote(diag.Position{}, "known are %s", strings.Join(known, ", "))
	}
	parsed, err := notation.ParseArray(arrayFile, r.Array, &q.mesh)
	if err != nil {
		return nil, err
	}
	a, err := q.sized(arrayFile, r.Array, parsed)
	if err != nil {
		return nil, err
	}
	c := &communication{question: q, request: r, array: a}
	return c.answer()
}

// communication is one that was read.
type communication struct {
	*question
	request *CollectiveRequest
	array   *array
	axes    []subaxis.Ref
}

func (c *communication) answer() (*CollectiveAnswer, error) {
	price, v, err := c.pricer()
	if err != nil {
		return nil, err
	}
	asked, ours := price(c.asked), price(c.ours)
	out := &CollectiveAnswer{Schema: CollectiveSchema, Kind: c.request.Kind, Array: c.request.Array, Place: c.place(),
		Axes: notation.Subscript(&c.mesh, c.axes), Group: subaxis.Product(c.axes), BlockBytes: c.array.bytes(), Bytes: v,
		DeviceBytes: asked.BytesPerDevice, SentBytes: asked.TotalBytes, Bandwidth: asked.Bandwidth, Latency: asked.Latency,
		Overhead: asked.Overhead, Hops: asked.Hops, Seconds: asked.Seconds, Bound: boundOf(&asked), Ours: ours.Seconds}
	if i := slices.Index(Kinds(), c.request.Kind); i < len(collectiveKinds) {
		for j, s := range c.asked.LevelTimes(collectiveKinds[i], c.axes, v) {
			out.Levels = append(out.Levels, Level{c.Hardware.Levels[j].Name, s})
		}
	}
	return out, nil
}

// pricer returns what prices the communication on a topology, and its V.
func (c *communication) pricer() (func(*cost.Topology) cost.Cost, int64, error) {
	v := c.array.bytes()
	if c.request.Kind == send {
		p := cost.Pair{Source: c.request.From, Target: c.request.To}
		if n := c.asked.Devices(); min(p.Source, p.Target) < 0 || max(p.Source, p.Target) >= n {
			return nil, 0, diag.Invalid(diag.BadOption, diag.Position{}, "a send goes between two of the devices 0 to %d of the mesh, not from %d "+
				"to %d", n-1, p.Source, p.Target)
		}
		return func(t *cost.Topology) cost.Cost { return t.PointToPoint(p, v) }, v, nil
	}
	var err error
	if c.axes, err = notation.ParseAxes("--over", c.request.Over, &c.mesh); err != nil {
		return nil, 0, err
	}
	if c.request.Kind == shift {
		if len(c.axes) != 1 {
			return nil, 0, diag.Invalid(diag.BadOption, diag.Position{}, "a shift goes along one axis: --over %s", c.mesh.Axes[c.axes[0].Axis].Name)
		}
		return func(t *cost.Topology) cost.Cost { return t.Permutation(t.Shift(c.axes[0], c.request.Shift), v) }, v, nil
	}
	kind := collectiveKinds[slices.Index(Kinds(), c.request.Kind)]
	if err := c.check(kind); err != nil {
		return nil, 0, err
	}
	v = collectives.GroupBytes(kind, subaxis.Product(c.axes), v)
	return func(t *cost.Topology) cost.Cost { return t.Collective(kind, c.axes, v) }, v, nil
}

// check says what a collective needs of the array: axes that gather or exchange must cut it, others must not.
func (c *communication) check(kind collectives.Kind) error {
	cuts := kind == collectives.AllGather || kind == collectives.AllToAll
	for _, r := range c.axes {
		name := c.mesh.Axes[r.Axis].Name
		cut := slices.ContainsFunc(c.array.Dims, func(d notation.Dim) bool { return slices.Contains(d.Axes, r) })
		switch {
		case cuts && !cut:
			return diag.Invalid(diag.BadSharding, diag.Position{}, "%s over %s needs an array that %s cuts, such as A[I_%s, J], not %s", kind, name,
				name, name, c.request.Array)
		case !cuts && cut:
			return diag.Invalid(diag.BadSharding, diag.Position{}, "%s over %s adds up what devices along it hold, but %s cuts %s: each holds "+
				"another block", kind, name, name, c.request.Array)
		}
	}
	return nil
}

// load returns the seconds of reading bytes from memory.
func load(t *cost.Topology, bytes int64) float64 {
	return t.Hardware().Op(cost.Work{Bytes: float64(bytes), DType: dtype.Invalid}, t.Options()).HBM
}
