package modeljson

import (
	"encoding/hex"
	"math"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// resourceFields are the fields of the content of a dense_resource.
var resourceFields = []string{"name", "align", "hex"}

// resource reads the content of a dense_resource, which constants name.
func (r *reader) resource(n *node) {
	if !r.object(n, "a resource", resourceFields...) {
		return
	}
	res := ir.Resource{Name: r.str(n, "name")}
	if res.Name == "" {
		r.fail(n.at, diag.BadModel, "resource has no \"name\"")
		return
	}
	if r.findResource(res.Name) != nil {
		r.fail(n.get("name").at, diag.Redefined, "resource %q is declared twice", res.Name)
		return
	}
	if align := n.get("align"); align != nil {
		v, _ := r.integer(align, "align", 0, math.MaxUint32)
		res.Align = uint32(v)
	}
	data, err := hex.DecodeString(r.str(n, "hex"))
	if err != nil {
		r.fail(n.get("hex").at, diag.BadConstant, "\"hex\" of resource %q is not hexadecimal: it needs two digits for each byte", res.Name)
	}
	res.Data = data
	r.m.AddResource(res)
}

func (r *reader) findResource(name string) *ir.Resource {
	list := r.m.Resources()
	if i := slices.IndexFunc(list, func(res ir.Resource) bool { return res.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// fill gives the constants of resources in an attribute their content; those whose content the model leaves out stay
// without.
func (r *reader) fill(at *node, a ir.Attr) {
	ir.VisitAttr(a, func(inner ir.Attr) {
		d, ok := inner.(*ir.Dense)
		if !ok || d.Resource == "" {
			return
		}
		res := r.findResource(d.Resource)
		if res == nil {
			return
		}
		if t := r.m.TypeOf(d.Type); t.IsStatic() && int64(len(res.Data)) != t.Bytes() {
			r.fail(at.at, diag.BadConstant, "resource %q has %d bytes, its type %s needs %d", res.Name, len(res.Data), r.typeText(d.Type), t.Bytes())
			return
		}
		d.Data = res.Data
	})
}

// addResources writes the contents of dense_resources.
func (w *writer) addResources(root *node) {
	if len(w.m.Resources()) == 0 {
		return
	}
	list := each(w.m.Resources(), func(res ir.Resource) node {
		n := object("name", w.text(res.Name, "resource"))
		n.add("align", number(int64(res.Align)))
		n.add("hex", text(hex.EncodeToString(res.Data)))
		return n
	})
	root.add("resources", lines(list.elems...))
}
