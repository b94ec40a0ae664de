package pass

import (
	"fmt"
	"slices"

	"github.com/dominikbraun/graph"
)

// successors returns for each pass those that come after it, in whatever way. It panics where there is no such order.
func (t *Table) successors() map[string][]string {
	order := graph.New(graph.StringHash, graph.Directed(), graph.PreventCycles())
	check := func(name string, err error) {
		if err != nil {
			panic(fmt.Sprintf("pass: the order of row %q: %v", name, err))
		}
	}
	for _, name := range t.names {
		check(name, order.AddVertex(name))
	}
	for _, name := range t.names {
		for _, first := range t.byName[name].After {
			check(name, order.AddEdge(first, name))
		}
	}
	later := map[string][]string{}
	for _, name := range t.names {
		check(name, graph.DFS(order, name, func(found string) bool {
			if found != name {
				later[name] = append(later[name], found)
			}
			return false
		}))
		slices.Sort(later[name])
	}
	return later
}

// checkOrder returns an error where the last run of a pass comes before the last run of one that it comes after.
func (t *Table) checkOrder(p *Pipeline) error {
	last := map[string]int{}
	for i, s := range p.Steps {
		last[s.Pass.Name] = i
	}
	for i, s := range p.Steps {
		if i != last[s.Pass.Name] {
			continue
		}
		for _, name := range t.later[s.Pass.Name] {
			if at, found := last[name]; found && at < i {
				return fmt.Errorf("pass `%s` comes before pass `%s`", name, s.Pass.Name)
			}
		}
	}
	return nil
}
