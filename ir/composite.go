package ir

// compositeVersion is the version of CHLO's ops that composites stand for.
const compositeVersion = 1

// recognise turns a composite that stands for an op of CHLO into that op. jax.export writes such ops so, for readers
// that do not know them:
//
//	%0 = stablehlo.composite "chlo.erf" %x {decomposition = @chlo.erf.impl, version = 1 : i32} : (T) -> T
//
// The op has a sharding rule and a kernel of its own, which are better than those of the dozens of ops in the
// decomposition. That is so for ops on elements and for top_k; composites of other names or versions, or that do not
// make the op they are named after, stay as they are.
func recognise(m *Module, op OpID) bool {
	attrs := m.OpAttrs(op)
	kind, ok := ParseKind(attrs.Str("name"))
	if !ok || kind.Dialect() != "chlo" || !kind.IsElementwise() && kind != OpChloTopK ||
		attrs.Int("version", 0) != compositeVersion || m.NumRegions(op) > 0 {
		return false
	}
	own, _ := attrs.Get("composite_attributes").(DictAttr)
	rest := Attrs(own)
	for _, e := range rest {
		if !kind.Declares(e.Name) {
			return false
		}
	}
	for _, e := range attrs {
		if !OpComposite.Declares(e.Name) {
			rest = rest.With(e.Name, e.Value)
		}
	}
	m.SetKind(op, kind)
	m.SetAttrs(op, rest)
	if v := (&verifier{m: m}); v.shape(op) == nil {
		return true
	}
	m.SetKind(op, OpComposite)
	m.SetAttrs(op, attrs)
	return false
}
