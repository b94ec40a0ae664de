package propagate

import (
	"context"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/trace"
)

// Session propagates one module again and again with other shardings of the main function's arguments and results,
// and answers byte for byte as Import and Run would. It keeps what does not depend on them: the imported program, the
// rules, and what ops do in situations that came up before. It must not be used by two goroutines at once.
// Re-planning with one pin changed will run on it; until then only its tests do.
type Session struct {
	source   *ir.Module // before Import
	imported *ir.Module
	options  Options
	tables   *tables
	trace    *trace.Trace
	memory   *memory
	groups   bool
}

// Given replaces the sharding of an argument of the main function, or of a result.
type Given struct {
	Result   bool
	Index    int
	Sharding *ir.Sharding // nil for none; its mesh is one of the module's
}

// NewSession returns a session for a module that was not imported yet. The module itself is not changed. It fails
// where Import or Run would, also with the context's error.
func NewSession(ctx context.Context, m *ir.Module, o Options) (*Session, error) {
	s := &Session{source: m.Clone(), imported: m.Clone(), options: o, trace: trace.New(nil), memory: newMemory(0)}
	if err := Import(ctx, s.imported); err != nil {
		return nil, err
	}
	if err := checkStatic(s.imported); err != nil {
		return nil, err
	}
	s.tables = newTables(ctx, s.imported, o)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.groups = len(s.tables.groups) > 0
	return s, nil
}

// Run propagates the module with some shardings replaced. What it returns is as Run leaves it.
func (s *Session) Run(ctx context.Context, given ...Given) (*ir.Module, *trace.Trace, error) {
	for _, g := range given {
		if err := s.check(g); err != nil {
			return nil, nil, err
		}
	}
	if s.groups || s.options.Debug.any() || slices.ContainsFunc(given, s.reachesImport) {
		return s.cold(ctx, given)
	}
	m := s.imported.Clone()
	for _, g := range given {
		give(m, g, true)
	}
	s.tables.m = m
	s.tables.loadShardings()
	e := startEngine(ctx, s.tables, s.options, s.trace, s.memory)
	if err := e.run(); err != nil {
		return nil, nil, err
	}
	s.trace = e.trace
	for id := ir.ShardingID(s.imported.NumShardings()); int(id) < m.NumShardings(); id++ {
		s.imported.InternSharding(*m.ShardingOf(id)) // the same id: outcomes speak of ids
	}
	return m, e.trace, nil
}

// cold imports and propagates anew.
func (s *Session) cold(ctx context.Context, given []Given) (*ir.Module, *trace.Trace, error) {
	m := s.source.Clone()
	for _, g := range given {
		give(m, g, false)
	}
	if err := Import(ctx, m); err != nil {
		return nil, nil, err
	}
	tr, err := Run(ctx, m, s.options)
	return m, tr, err
}

func (s *Session) check(g Given) error {
	main, ok := s.source.Main()
	if !ok {
		return diag.Invalid(diag.BadModel, diag.Position{}, "the module has no main function")
	}
	f := s.source.Func(main)
	n, what := len(s.source.BlockArgs(f.Body)), "argument"
	if g.Result {
		n, what = len(f.ResultTypes), "result"
	}
	if g.Index < 0 || g.Index >= n {
		return diag.Invalid(diag.BadOption, diag.Position{}, "there is no %s %d: the main function has %d", what, g.Index, n)
	}
	return nil
}

// reachesImport says whether a change may alter what Import does: constraints and manual computations give their
// shardings to arguments that have none.
func (s *Session) reachesImport(g Given) bool {
	if g.Result {
		return false
	}
	m := s.source
	for use := range m.Uses(m.BlockArgs(m.MainFunc().Body)[g.Index]) {
		if kind := m.Kind(use.Op); kind == ir.OpSdyShardingConstraint || kind == ir.OpSdyManualComputation {
			return true
		}
	}
	return false
}

// give replaces a sharding. In an imported module, axes of size one count for nothing.
func give(m *ir.Module, g Given, imported bool) {
	var id ir.ShardingID
	if g.Sharding != nil {
		c := g.Sharding.Clone()
		if imported && hasSizeOneAxis(m) {
			withoutSizeOne(&c)
		}
		id = m.InternSharding(c)
	}
	if f := m.MainFunc(); g.Result {
		f.ResultShardings[g.Index] = id
	} else {
		m.SetSharding(m.BlockArgs(f.Body)[g.Index], id)
	}
}
