package mlir

import (
	"strconv"
	"strings"

	"autoshard/ir"
)

// collectMaps finds the affine maps and sets among the attributes: MLIR prints them through aliases.
func (pr *printer) collectMaps() {
	m, collect := pr.m, pr.collectMap
	m.Attrs.Visit(collect)
	m.Walk(m.Body(), func(op ir.OpID) {
		for dict := range m.AttrDicts(op) {
			dict.Visit(collect)
		}
	})
}

func (pr *printer) collectMap(a ir.Attr) {
	v, ok := a.(ir.OpaqueAttr)
	if !ok {
		return
	}
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
