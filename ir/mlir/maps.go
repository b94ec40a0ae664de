package mlir

import (
	"strconv"
	"strings"

	"autoshard/ir"
)

// collectMaps finds the affine maps and sets among the attributes: MLIR prints them through aliases.
func (pr *printer) collectMaps() {
	m := pr.m
	pr.collectAttrs(m.Attrs)
	m.Walk(m.Body(), func(op ir.OpID) {
		pr.collectAttrs(m.OpAttrs(op))
		if f := m.FuncOf(op); f != 0 {
			for _, a := range m.Func(f).ArgAttrs {
				pr.collectAttrs(a)
			}
			for _, a := range m.Func(f).ResultAttrs {
				pr.collectAttrs(a)
			}
		}
	})
}

func (pr *printer) collectAttrs(attrs ir.Attrs) {
	for i := range attrs {
		pr.collectAttr(attrs[i].Value)
	}
}

func (pr *printer) collectAttr(a ir.Attr) {
	switch v := a.(type) {
	case ir.ArrayAttr:
		for _, e := range v {
			pr.collectAttr(e)
		}
	case ir.DictAttr:
		pr.collectAttrs(ir.Attrs(v))
	case ir.OpaqueAttr:
		text := string(v)
		base := ""
		switch {
		case strings.HasPrefix(text, "affine_map<"):
			base = "#map"
		case strings.HasPrefix(text, "affine_set<"):
			base = "#set"
		default:
			return
		}
		if _, ok := pr.maps[text]; ok {
			return
		}
		if pr.maps == nil {
			pr.maps, pr.mapCount = map[string]string{}, map[string]int{}
		}
		name := base
		if n := pr.mapCount[base]; n > 0 {
			name += strconv.Itoa(n)
		}
		pr.mapCount[base]++
		pr.maps[text] = name
		pr.mapOrder = append(pr.mapOrder, text)
	}
}
