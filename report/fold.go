package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/internal/lists"
)

// family is a set of values that differ in the numbers of their names alone: the same tensor of every layer.
type family struct {
	name    string
	members []int // positions among the values
	layers  int   // values of its widest number, 1 where nothing is folded
	bytes   int64 // of all members, whole
	guests  []guest
}

// guest counts values elsewhere in the program's arguments that are in the row of a family.
type guest struct {
	root  string
	count int
}

// label is what the family is called in its row.
func (f *family) label() string {
	text := f.name
	for _, g := range f.guests {
		text += fmt.Sprintf(", %s x %d", g.root, g.count)
	}
	return text
}

// A number of a name counts layers or list positions: [3], .3, _3 at the end of a segment, or the whole of arg3.
var (
	numbers = regexp.MustCompile(`\[\d+\]|[._]\d+\b|^` + genericPrefix + `\d+$`)
	digits  = regexp.MustCompile(`\d+`)
	generic = regexp.MustCompile(`^` + genericPrefix + `\d+$`)
)

// genericPrefix begins the names of inputs that the model does not name: arg0, arg1, …
const genericPrefix = "arg"

// template is a name with its numbers taken out.
type template struct {
	pieces  []string // text between the numbers, one more than numbers
	numbers []int
}

func templateOf(name string) template {
	var t template
	at := 0
	for _, span := range numbers.FindAllStringIndex(name, -1) {
		d := digits.FindStringIndex(name[span[0]:span[1]])
		n, err := strconv.Atoi(name[span[0]+d[0] : span[0]+d[1]])
		if err != nil {
			continue // too large for a position
		}
		t.pieces = append(t.pieces, name[at:span[0]+d[0]])
		t.numbers = append(t.numbers, n)
		at = span[0] + d[1]
	}
	t.pieces = append(t.pieces, name[at:])
	return t
}

// fold groups values whose names, but for numbers, and whose types and shardings are the same, largest first.
func fold(values []answer.Tensor) []family {
	type key struct {
		shape, typ, spec, role string
		user, state            bool
	}
	index := map[key]int{}
	kinds := map[string]int{} // how many values have a template and type, however they are cut
	templates := make([]template, len(values))
	var out []family
	for i := range values {
		v := &values[i]
		templates[i] = templateOf(v.Name)
		shape := strings.Join(templates[i].pieces, "*")
		kinds[shape+v.Type]++
		k := key{shape, v.Type, v.Spec, v.Role, v.User, v.Replaces != nil}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, family{})
		}
		out[at].members = append(out[at].members, i)
		out[at].bytes += v.WholeBytes
	}
	for i := range out {
		f := &out[i]
		first := f.members[0]
		whole := kinds[strings.Join(templates[first].pieces, "*")+values[first].Type] == len(f.members)
		f.name, f.layers = foldedName(templates, f.members, whole)
	}
	return out
}

// page returns the families as a page lists them: largest first, those that hang on others in the row of these.
func page(values []answer.Tensor) []family {
	out := attach(fold(values), values)
	slices.SortStableFunc(out, func(a, b family) int { return cmp.Compare(b.bytes, a.bytes) })
	return out
}

// attach puts families that repeat another one elsewhere in the program's arguments, of the same types and shardings, into
// its row: the moments of an optimizer, which are a tree like the parameters'.
func attach(families []family, values []answer.Tensor) []family {
	type key struct {
		path, typ, spec string
		user            bool
	}
	index := map[key]int{}
	var out []family
	for _, f := range families {
		v := &values[f.members[0]]
		root := rootPattern.FindString(f.name)
		k := key{typ: v.Type, spec: v.Spec, user: v.User}
		at, ok := -1, false
		for i := len(root); i < len(f.name) && !ok; i++ {
			if f.name[i] == '[' || f.name[i] == '.' {
				k.path = f.name[i:]
				at, ok = index[k]
			}
		}
		if ok && partName(&values[out[at].members[0]]) != partName(v) {
			host := &out[at]
			if n := len(host.guests); n == 0 || host.guests[n-1].root != root {
				host.guests = append(host.guests, guest{root: root})
			}
			host.guests[len(host.guests)-1].count += len(f.members)
			host.members = append(host.members, f.members...)
			host.bytes += f.bytes
			continue
		}
		if k.path = f.name[len(root):]; root != "" && strings.ContainsAny(k.path, "'.") {
			index[k] = len(out)
		}
		out = append(out, f)
	}
	return out
}

// foldedName writes the common name of values: numbers in which they differ as *, or as ranges where other values of
// this name are cut in another way. Layers is the number of values of the widest number.
func foldedName(templates []template, members []int, whole bool) (name string, layers int) {
	first := &templates[members[0]]
	var b strings.Builder
	layers = 1
	for i, piece := range first.pieces {
		b.WriteString(piece)
		if i == len(first.numbers) {
			break
		}
		seen := lists.Map(members, func(m int) int { return templates[m].numbers[i] })
		slices.Sort(seen)
		seen = slices.Compact(seen)
		named := piece != genericPrefix
		if named && first.pieces[i+1] != "" { // a last number is a position in a list
			layers = max(layers, len(seen))
		}
		switch {
		case len(seen) == 1:
			fmt.Fprint(&b, seen[0])
		case whole && named:
			b.WriteByte('*')
		default:
			b.WriteString(lists.Runs(seen, mostRanges))
		}
	}
	if len(members) > 1 {
		fmt.Fprintf(&b, " x %d", len(members))
	}
	return b.String(), layers
}

const mostRanges = 3
