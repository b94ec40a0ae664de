package answer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/modeljson"
	"autoshard/ir/names"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// MeshAxis is a named axis of the plan's mesh.
type MeshAxis = subaxis.Axis

// Tensor is an input or output of the plan.
type Tensor struct {
	Index      int      `json:"index"`              // among the inputs, or the outputs
	Name       string   `json:"name"`               // as the program calls it, unique among the inputs or the outputs
	Role       string   `json:"role,omitempty"`     // param, opt_state, batch, … as the model says; batch also where its shape and use tell
	Type       string   `json:"type"`               // of the whole tensor, such as f32[128,512]
	LocalType  string   `json:"localType"`          // of one device's block
	Sharding   string   `json:"sharding"`           // Shardy's text, such as <@mesh, [{"data"}, {}]>
	Spec       string   `json:"spec"`               // PartitionSpec form, such as P('data', None)
	Axes       []string `json:"axes"`               // the mesh axes that cut it, sub-axes as x:(m)k
	WholeBytes int64    `json:"wholeBytes"`         // of the whole tensor
	Bytes      int64    `json:"bytes"`              // of one device's block
	User       bool     `json:"user"`               // the user wrote a sharding for it
	Replaces   *int     `json:"replaces,omitempty"` // of an output: the input whose place it takes in the next step
	Donated    bool     `json:"donated,omitempty"`  // of an input: the program may reuse its buffer
	// PartitionSpec over the plan's refined mesh, which JAX can say; absent in a propagation
	RefinedSpec string `json:"refinedSpec,omitempty"`
}

// IsBatch says whether the leading dimension counts examples.
func (t *Tensor) IsBatch() bool { return t.Role == modeljson.BatchRole }

// Shape returns the element type and the dimensions of the whole tensor, false where it is none, such as a token, or has
// dimensions of any size.
func (t *Tensor) Shape() (dt dtype.Type, shape []int64, ok bool) {
	name, dims, found := strings.Cut(t.Type, "[")
	dims, closed := strings.CutSuffix(dims, "]")
	dt, known := dtype.Parse(name)
	if !found || !closed || !known {
		return 0, nil, false
	}
	shape = []int64{}
	if dims == "" {
		return dt, shape, true
	}
	for d := range strings.SplitSeq(dims, ",") {
		size, err := strconv.ParseInt(d, 10, 64)
		if err != nil || size < 0 {
			return 0, nil, false
		}
		shape = append(shape, size)
	}
	return dt, shape, true
}

// Tensors describes the inputs and outputs of a module's main function in their shardings.
func Tensors(m *ir.Module, user func(arg, result int) bool) (inputs, outputs []Tensor) {
	main, _ := m.Main()
	f := m.Func(main)
	args, results := names.Args(m, main), names.Results(m, main)
	inputs, outputs = []Tensor{}, []Tensor{}
	for i, arg := range m.BlockArgs(f.Body) {
		t := describe(m, i, m.Type(arg), m.Sharding(arg))
		t.Name = args.Names[i]
		t.Role = f.ArgAttrs[i].Str(modeljson.RoleAttr)
		t.User = user(i, -1)
		t.Donated = f.ArgAttrs[i].Donated()
		inputs = append(inputs, t)
	}
	for i, typ := range f.ResultTypes {
		t := describe(m, i, typ, f.ResultShardings[i])
		t.Name = results.Names[i]
		t.User = user(-1, i)
		outputs = append(outputs, t)
	}
	return inputs, outputs
}

func describe(m *ir.Module, i int, typ ir.TypeID, sharding ir.ShardingID) Tensor {
	t := m.TypeOf(typ)
	out := Tensor{Index: i, Type: FormatType(t, t.Dims), LocalType: FormatType(t, t.Dims), Bytes: t.Bytes(), WholeBytes: t.Bytes(),
		Axes: []string{}}
	if sharding != 0 {
		s := m.ShardingOf(sharding)
		for d := range s.Dims {
			out.Axes = append(out.Axes, FormatRefs(&m.Mesh(s.Mesh).Mesh, s.Dims[d].Axes)...)
		}
		local := s.LocalDims(t.Dims)
		out.LocalType = FormatType(t, local)
		out.Bytes = (&ir.Type{DType: t.DType, Dims: local}).Bytes()
		out.Sharding = m.FormatSharding(sharding)
		out.Spec = specfmt.Notation(m, sharding)
	}
	return out
}

// FormatRefs writes axes and parts of axes without quotes: data, model:(1)2.
func FormatRefs(mesh *subaxis.Mesh, refs []subaxis.Ref) []string {
	return lists.Map(refs, func(r subaxis.Ref) string { return strings.ReplaceAll(mesh.Format(r), `"`, "") })
}

// FormatGroups writes the devices of groups that are places in a mesh: 0,3. Of no groups it returns nil.
func FormatGroups(mesh *subaxis.Mesh, groups [][]int64) (out []string) {
	for _, members := range groups {
		out = append(out, strings.Join(lists.Map(members, func(place int64) string { return strconv.FormatInt(mesh.DeviceID(place), 10) }), ","))
	}
	return out
}

// mostGroups bounds the groups of a collective that are listed.
const mostGroups = 4

// FormatAmong says between whom a collective communicates: along axes, or in the groups {0,3} {1,2} and 6 more.
func FormatAmong(axes, groups []string) string {
	if len(groups) == 0 {
		return strings.Join(axes, ",")
	}
	shown := groups[:min(len(groups), mostGroups)]
	text := "{" + strings.Join(shown, "} {") + "}"
	if more := len(groups) - len(shown); more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// FormatType returns a tensor type as people write it: f32[128,512].
func FormatType(t *ir.Type, dims []int64) string {
	switch t.Kind {
	case ir.TensorKind:
	case ir.TokenKind:
		return "token"
	default:
		return t.Text
	}
	return dtype.Format(t.DType, dims)
}

// unchanged says whether a value lies as the user wrote: along the same axes at each dimension.
func unchanged(from *ir.Module, wrote ir.ShardingID, to *ir.Module, got ir.ShardingID) bool {
	if wrote == 0 || got == 0 {
		return false
	}
	a, b := from.ShardingOf(wrote), to.ShardingOf(got)
	return len(a.Unreduced) == len(b.Unreduced) &&
		slices.EqualFunc(a.Dims, b.Dims, func(x, y ir.DimSharding) bool { return slices.Equal(x.Axes, y.Axes) })
}

// Written returns which inputs and outputs lie as the user wrote, in a copy of the module that was propagated or planned.
func Written(before, after *ir.Module) func(arg, result int) bool {
	shardings := func(m *ir.Module) (args, results []ir.ShardingID) {
		f := m.MainFunc()
		return lists.Map(m.BlockArgs(f.Body), m.Sharding), f.ResultShardings
	}
	args, results := shardings(before)
	newArgs, newResults := shardings(after)
	return func(arg, result int) bool {
		if arg >= 0 {
			return unchanged(before, args[arg], after, newArgs[arg])
		}
		return unchanged(before, results[result], after, newResults[result])
	}
}

// NumberedResult names a result by its place, as an answer does where the program gives no name.
func NumberedResult(i int) string { return "result " + strconv.Itoa(i) }

// roleWords are what people call roles whose names are abbreviations.
var roleWords = map[string]string{"param": "parameters", "opt_state": "optimizer state", "kv_cache": "KV cache"}

// RoleWord is what people call a role, such as parameters for param.
func RoleWord(role string) string { return cmp.Or(roleWords[role], role) }

// RoleName is what inputs of a role are called; replaced says that results take their place.
func RoleName(role string, replaced bool) string {
	switch {
	case roleWords[role] != "":
		return roleWords[role]
	case role != "" && role != "scalar":
		return role + " inputs"
	case replaced:
		return "inputs that results replace"
	}
	return "other inputs"
}
