package mlir

import (
	"autoshard/ir"
)

func (pr *printer) module() {
	m := pr.m
	pr.locDefinitions(true)
	for _, text := range pr.mapOrder {
		pr.str(pr.maps[text] + " = " + text + "\n")
	}
	pr.numberModule(m.Body())
	pr.moduleText(m.Name, m.Attrs, m.Body())
	pr.loc(m.Loc)
	pr.byte('\n')
	pr.locDefinitions(false)
	pr.resources()
}

// moduleText prints module @name attributes {…} { … }.
func (pr *printer) moduleText(name string, attrs ir.Attrs, body ir.BlockID) {
	pr.str("module")
	if name != "" {
		pr.str(" @" + ir.FormatSymbol(name))
	}
	if len(attrs) > 0 {
		pr.str(" attributes")
		pr.dict(attrs)
	}
	pr.str(" {")
	pr.indent += 2
	for op := range pr.m.Ops(body) {
		pr.newline()
		pr.op(op)
	}
	pr.indent -= 2
	pr.newline()
	pr.byte('}')
}

func (pr *printer) nestedModule(op ir.OpID) {
	attrs := pr.m.OpAttrs(op)
	pr.moduleText(attrs.Str(symbolNameAttr), attrs.Without(symbolNameAttr), pr.m.RegionBlock(op, 0))
}

func (pr *printer) mesh(op ir.OpID) {
	d := pr.m.Mesh(pr.meshOf[op])
	pr.str("sdy.mesh @")
	pr.str(ir.FormatSymbol(d.Name))
	pr.str(" = ")
	pr.str(d.FormatContent())
	pr.attrDict(op)
}

func (pr *printer) function(op ir.OpID) {
	m := pr.m
	id := m.FuncOf(op)
	f := m.Func(id)
	pr.str("func.func ")
	if f.Visibility != "" {
		pr.str(f.Visibility)
		pr.byte(' ')
	}
	pr.byte('@')
	pr.str(ir.FormatSymbol(f.Name))
	declaration := m.IsDeclaration(id)
	pr.byte('(')
	for i, v := range m.BlockArgs(f.Body) {
		if i > 0 {
			pr.str(", ")
		}
		if !declaration {
			pr.value(v)
			pr.str(": ")
		}
		pr.typ(m.Type(v))
		pr.signatureAttrs(f.ArgAttrs[i], m.Sharding(v))
		if !declaration {
			pr.argLoc(v)
		}
	}
	pr.byte(')')
	pr.signatureResults(f)
	if len(m.OpAttrs(op)) > 0 {
		pr.str(" attributes")
		pr.attrDict(op)
	}
	if !declaration {
		pr.byte(' ')
		pr.region(op, 0, false)
	}
}

func (pr *printer) signatureResults(f *ir.Func) {
	m := pr.m
	if len(f.ResultTypes) == 0 {
		return
	}
	pr.str(" -> ")
	bare := len(f.ResultTypes) == 1 && len(f.ResultAttrs[0]) == 0 && f.ResultShardings[0] == 0 &&
		m.TypeOf(f.ResultTypes[0]).Kind != ir.FunctionKind
	if !bare {
		pr.byte('(')
	}
	for i, t := range f.ResultTypes {
		if i > 0 {
			pr.str(", ")
		}
		pr.typ(t)
		pr.signatureAttrs(f.ResultAttrs[i], f.ResultShardings[i])
	}
	if !bare {
		pr.byte(')')
	}
}

// signatureAttrs prints the attributes of an argument or result with its sharding.
func (pr *printer) signatureAttrs(a ir.Attrs, s ir.ShardingID) {
	if s != 0 {
		a = a.With(shardingAttr, ir.ShardingAttr(s))
	}
	if len(a) > 0 {
		pr.dict(a)
	}
}
