package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/plan"
)

// collectiveGroup adds up the collectives of one kind over the same axes that move blocks of one type.
type collectiveGroup struct {
	kind, axes, typ string
	places          int // in the program
	count           int64
	bytes           int64
	seconds         float64
	sources         []string
}

// collectiveTable lists collectives, those that send the most bytes first.
func collectiveTable(collectives []plan.Collective, all bool) string {
	if len(collectives) == 0 {
		return "no collectives\n"
	}
	groups := groupCollectives(collectives, all)
	rows := collectiveRows
	if all {
		rows = len(groups)
	}
	t := newTable(3, 4, 5, 6)
	t.AppendHeader(table.Row{"collective", "axes", "block", "places", "count", "bytes sent", "time", "source"})
	rest, restBytes := 0, int64(0)
	for i, g := range groups {
		if i >= rows {
			rest += g.places
			restBytes += g.bytes
			continue
		}
		t.AppendRow(table.Row{g.kind, g.axes, g.typ, g.places, g.count, diag.Bytes(g.bytes), diag.Seconds(g.seconds), sources(g.sources)})
	}
	out := t.Render() + "\n"
	if rest > 0 {
		out += fmt.Sprintf("%s that %s %s: --all\n", diag.Count(rest, "more collective", "more collectives"), diag.Plural(rest, "sends", "send"),
			diag.Bytes(restBytes))
	}
	return out
}

// groupCollectives returns the groups, largest first; each collective by itself and in program order where all are asked for.
func groupCollectives(collectives []plan.Collective, all bool) []*collectiveGroup {
	var groups []*collectiveGroup
	index := map[[3]string]*collectiveGroup{}
	for i := range collectives {
		c := &collectives[i]
		key := [3]string{c.Kind, answer.FormatAmong(c.Axes, c.Groups), c.Type}
		g := index[key]
		if g == nil || all {
			g = &collectiveGroup{kind: key[0], axes: key[1], typ: key[2]}
			index[key] = g
			groups = append(groups, g)
		}
		g.places++
		g.count += c.Count
		g.bytes += c.Bytes
		g.seconds += c.Seconds
		g.sources = append(g.sources, c.Source)
	}
	if !all {
		slices.SortStableFunc(groups, func(a, b *collectiveGroup) int {
			return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.seconds, a.seconds))
		})
	}
	return groups
}

const (
	mostSources = 2
	mostScope   = 3 // segments of a scope
)

// sources writes where values come from, with the numbers of layers as *: attn/dot_general (gpt.py:12), or what the first
// of many places are.
func sources(places []string) string {
	var out []string
	seen := map[string]bool{}
	for _, place := range places {
		short := strings.Join(templateOf(shortSource(place)).pieces, "*")
		if short != "" && !seen[short] {
			seen[short] = true
			out = append(out, short)
		}
	}
	if more := len(out) - mostSources; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out[:mostSources], ", "), more)
	}
	return strings.Join(out, ", ")
}

// shortSource leaves the end of a scope, and the name of a file without its folders.
func shortSource(place string) string {
	scope, file, ok := strings.Cut(place, " (")
	if !ok {
		return place[strings.LastIndexByte(place, '/')+1:]
	}
	segments := strings.Split(scope, "/")
	scope = strings.Join(segments[max(0, len(segments)-mostScope):], "/")
	return scope + " (" + file[strings.LastIndexByte(file, '/')+1:]
}
