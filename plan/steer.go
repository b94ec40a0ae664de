package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// Pin is the sharding that inputs and outputs are to have. Value is a name as plans have it, such as params['wq'], a place, arg3 or out0,
// or a name with stars, each for any characters: params[*]['wq']. Quotes may be left out. Values inside the program are called by the line
// of the model's text that makes them: @12, or @12#1 for a second result.
type Pin struct {
	Value    string `json:"value"`    // name, place, name with stars, or line of a value inside the program
	Sharding string `json:"sharding"` // Shardy's form, such as [{"data"}, {?}], or JAX's, such as P('data', None); the planner chooses if empty
}

// Forbid keeps axes away from inputs and outputs, which are called as those of a Pin.
type Forbid struct {
	Value string   `json:"value"` // name, place, or name with stars
	Axes  []string `json:"axes"`  // that cut no dimension of it
}

// ParsePin reads a pin: w1=P(None, 'model'). The text up to the first = is the name. Errors are of class diag.ErrInvalid.
func ParsePin(text string) (Pin, error) {
	name, sharding, found := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !found || name == "" {
		return Pin{}, diag.Invalid(diag.BadOption, diag.Position{}, "%q is no pin, such as `w1=P(None, 'model')`", text)
	}
	return Pin{name, strings.TrimSpace(sharding)}, nil
}

// ParseForbid reads what is forbidden: embed: data,model. Errors are of class diag.ErrInvalid.
func ParseForbid(text string) (Forbid, error) {
	at := strings.LastIndexByte(text, ':')
	axes := strings.Split(text[at+1:], ",")
	for i := range axes {
		axes[i] = strings.TrimSpace(axes[i])
	}
	name := strings.TrimSpace(text[:max(at, 0)])
	if name == "" || slices.Contains(axes, "") {
		return Forbid{}, diag.Invalid(diag.BadOption, diag.Position{}, "%q keeps no axis away from a value, as `embed: data` does", text)
	}
	return Forbid{name, axes}, nil
}

// steer writes pins, and then what is forbidden, into the module. The module may be half changed where it fails.
func (p *planner) steer(pins []Pin, forbidden []Forbid) error {
	for _, pin := range pins {
		err := p.each(pin.Value, func(name string, t *ir.Type, _ ir.ShardingID) (ir.ShardingID, error) {
			return p.parse(name, pin.Sharding, t)
		})
		if err != nil {
			return err
		}
	}
	for _, f := range forbidden {
		axes, err := p.axesCalled(f.Axes)
		if err != nil {
			return err
		}
		err = p.each(f.Value, func(name string, t *ir.Type, now ir.ShardingID) (ir.ShardingID, error) {
			return p.without(name, t, now, axes)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each replaces the shardings of all inputs and outputs that a name stands for.
func (p *planner) each(called string, change func(name string, t *ir.Type, now ir.ShardingID) (ir.ShardingID, error)) error {
	if isInner(called) {
		return p.eachInner(called, change)
	}
	m := p.module
	f := m.MainFunc()
	main, _ := m.Main()
	inputs, outputs := names.Args(m, main), names.Results(m, main)
	in, out := portsCalled(&inputs, "arg", called), portsCalled(&outputs, "out", called)
	if len(in)+len(out) == 0 {
		known := slices.Concat(inputs.Names, outputs.Names)
		return diag.Invalid(diag.BadOption, diag.Position{}, "no input or output is called `%s`%s", called, diag.DidYouMean(called, known)).
			WithNote(diag.Position{}, "a value inside the program is called by its line in the model, such as @12")
	}
	for _, i := range in {
		v := m.BlockArgs(f.Body)[i]
		id, err := change(inputs.Names[i], m.ValueType(v), m.Sharding(v))
		if err != nil {
			return err
		}
		m.SetSharding(v, id)
	}
	for _, i := range out {
		id, err := change(outputs.Names[i], m.TypeOf(f.ResultTypes[i]), f.ResultShardings[i])
		if err != nil {
			return err
		}
		f.ResultShardings[i] = id
	}
	return nil
}

// portsCalled returns the places of the inputs or outputs that a name stands for: the one that is called so or has this number, or all
// that a name with stars matches.
func portsCalled(ports *names.Ports, base, called string) []int {
	if i := slices.Index(ports.Names, called); i >= 0 {
		return []int{i}
	}
	digits, ok := strings.CutPrefix(called, base)
	if i, err := strconv.Atoi(digits); ok && err == nil && i >= 0 && i < len(ports.Names) {
		return []int{i}
	}
	pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(names.WithoutQuotes(called)), `\*`, ".*") + "$")
	all := lists.Range[int](len(ports.Names))
	return lists.Filter(all, func(i int) bool { return pattern.MatchString(names.WithoutQuotes(ports.Names[i])) })
}

// parse reads the sharding of a pin.
func (p *planner) parse(name, sharding string, t *ir.Type) (ir.ShardingID, error) {
	text := strings.TrimSpace(sharding)
	if text == "" {
		return 0, nil
	}
	if t.Kind != ir.TensorKind {
		return 0, noTensor(name)
	}
	l, _, err := specfmt.Parse(specfmt.FormOf(text), p.module.Mesh(p.mesh), t.Rank(), text, diag.Position{File: name})
	if err != nil {
		return 0, err
	}
	l.Sharding.Mesh = p.mesh
	return p.module.InternSharding(l.Sharding), nil
}

func noTensor(name string) error {
	return diag.Invalid(diag.BadOption, diag.Position{}, "`%s` is no tensor and has no sharding", name)
}

// without returns a sharding that leaves axes out: that which a value has or, where it has none, an open one.
func (p *planner) without(name string, t *ir.Type, now ir.ShardingID, axes []subaxis.Ref) (ir.ShardingID, error) {
	if t.Kind != ir.TensorKind {
		return 0, noTensor(name)
	}
	s := ir.Sharding{Mesh: p.mesh, Dims: make([]ir.DimSharding, t.Rank())}
	for d := range s.Dims {
		s.Dims[d].Priority = ir.NoPriority
	}
	if now != 0 {
		s = p.module.ShardingOf(now).Clone()
	}
	mesh := p.module.Mesh(p.mesh)
	for d := range s.Dims {
		for _, axis := range axes {
			if overlap, found := subaxis.Overlapping(s.Dims[d].Axes, axis); found {
				return 0, diag.Invalid(diag.BadOption, diag.Position{}, "dimension %d of `%s` is to be cut along %s, and %s is forbidden", d, name,
					mesh.Format(overlap), mesh.Format(axis))
			}
		}
	}
	s.Replicated = subaxis.SortMerge(slices.Concat(s.Replicated, subaxis.Difference(axes, s.Replicated)))
	return p.module.InternSharding(s), nil
}

// axesCalled returns whole axes of the mesh by their names.
func (p *planner) axesCalled(called []string) ([]subaxis.Ref, error) {
	mesh := p.module.Mesh(p.mesh)
	var axes []subaxis.Ref
	for _, name := range called {
		axis, ok := mesh.Lookup(name)
		if !ok {
			known := lists.Map(mesh.Axes, func(a subaxis.Axis) string { return a.Name })
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "the mesh has no axis %q%s", name, diag.DidYouMean(name, known))
		}
		axes = append(axes, axis)
	}
	return axes, nil
}
