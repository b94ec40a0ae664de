package specfmt

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// maxDevices bounds the device arrays that are read.
const maxDevices = 1 << 20

// hloText is a GSPMD sharding as it is written: a word, or dims with devices.
type hloText struct {
	word    string // replicated, manual, unreduced, unknown, maximal; "" with dims
	device  int64  // of maximal
	dims    []int64
	at      int // of dims
	devices []int64
	groups  []subgroup
	dropped left
}

// hloText reads the text.
func (s *scanner) hloText(h *hloText) {
	s.expect("{")
	for s.space(); s.err == nil && !s.next("}"); s.space() {
		if s.at == len(s.text) {
			s.expect("}")
			return
		}
		s.hloAttribute(h)
		s.next(",")
	}
	s.end()
	if h.word == "" && h.dims == nil {
		s.failf(diag.Syntax, 0, "the sharding has neither tiles nor a word such as `replicated`")
	}
	if len(h.groups) > len(h.dims) {
		s.failf(diag.BadSharding, h.at, "the sharding has %d subgroups, but only %d tile dimensions", len(h.groups), len(h.dims))
	}
}

func (s *scanner) hloAttribute(h *hloText) {
	at := s.at
	switch name := s.word(); name {
	case "replicated", "manual", "unreduced", "unknown", "maximal":
		if h.word != "" || h.dims != nil {
			s.failf(diag.BadSharding, at, "`%s` cannot follow another kind of sharding", name)
		}
		h.word = name
	case "device":
		s.expect("=")
		h.device = s.number(63)
	case "devices":
		if h.word != "" || h.dims != nil {
			s.failf(diag.BadSharding, at, "tiles cannot follow another kind of sharding")
		}
		h.at = at
		s.hloDevices(h)
	case "last_tile_dim_replicate":
		h.groups = []subgroup{replicatedGroup}
	case "last_tile_dims":
		s.hloGroups(h)
	case "metadata":
		h.dropped.add("metadata is left out")
		s.hloMetadata()
	case "shard_as", "shard_like":
		h.dropped.add("the group of `%s` is left out", name)
		s.number(63)
	default:
		s.at = at
		s.expected("an attribute of a sharding")
	}
}

// hloGroups reads ={manual, replicated}.
func (s *scanner) hloGroups(h *hloText) {
	s.expect("=")
	s.expect("{")
	s.list("}", func() {
		name := s.word()
		i := slices.Index(subgroupNames, name)
		if i < 0 {
			s.at -= len(name)
			s.expected("one of " + strings.Join(subgroupNames, ", "))
			return
		}
		h.groups = append(h.groups, subgroup(i))
	})
}

// hloMetadata skips ={op_name="…"}, with anything in braces and quotes.
func (s *scanner) hloMetadata() {
	s.expect("={")
	for depth := 1; depth > 0 && s.err == nil; s.at++ {
		switch s.peek() {
		case '{':
			depth++
		case '}':
			depth--
		case '"':
			s.quoted(`"`)
			s.at--
		case 0:
			s.expect("}")
			return
		}
	}
}

// hloDevices reads =[2,1,4]<=[4,2]T(1,0), or =[2,2]0,2,1,3.
func (s *scanner) hloDevices(h *hloText) {
	s.expect("=")
	h.dims = s.sizes("[", "]")
	total, err := s.product(h.dims, h.at)
	s.fail(err)
	if s.next("<=") {
		h.devices = s.iota(total)
	} else {
		h.devices = s.devices(total)
	}
	if !isPermutation(h.devices) {
		s.failf(diag.BadSharding, h.at, "the devices must be the numbers 0 to %d, each once", total-1)
	}
}

func (s *scanner) devices(total int64) (list []int64) {
	for s.err == nil {
		if list = append(list, s.number(63)); int64(len(list)) == total {
			break
		}
		s.expect(",")
	}
	return list
}

// iota reads [4,2]T(1,0) and returns the devices that it stands for.
func (s *scanner) iota(total int64) []int64 {
	at := s.at
	shape := s.sizes("[", "]")
	if n, err := s.product(shape, at); err != nil || n != total {
		s.failf(diag.BadSharding, at, "the tiles are on %d devices, the iota has another number", total)
	}
	perm := lists.Range[int64](len(shape))
	if s.next("T") {
		at := s.at
		if perm = s.sizes("(", ")"); len(perm) != len(shape) || !isPermutation(perm) {
			s.failf(diag.BadSharding, at, "the transposition must name each of the %d dimensions once", len(shape))
		}
	}
	if s.err != nil {
		return nil
	}
	strides := make([]int64, len(shape))
	for i, stride := len(shape)-1, int64(1); i >= 0; i-- {
		strides[i] = stride
		stride *= shape[i]
	}
	out := []int64{0}
	for _, d := range perm {
		if shape[d] == 1 {
			continue
		}
		longer := make([]int64, 0, int64(len(out))*shape[d])
		for _, base := range out {
			for k := range shape[d] {
				longer = append(longer, base+k*strides[d])
			}
		}
		out = longer
	}
	return out
}

func (s *scanner) sizes(open, end string) (list []int64) {
	s.expect(open)
	s.list(end, func() { list = append(list, s.number(32)) })
	if len(list) == 0 {
		s.expected("a number")
	}
	return list
}

// product returns how many devices a shape has.
func (s *scanner) product(shape []int64, at int) (int64, error) {
	n := int64(1)
	for _, d := range shape {
		switch {
		case d < 1:
			return 0, diag.Invalid(diag.BadSharding, s.pos(at), "a tile dimension has size %d, must be at least 1", d)
		case d > maxDevices/n:
			return 0, diag.TooLarge(diag.BadSharding, s.pos(at), "the tiles are on more than %d devices", maxDevices)
		}
		n *= d
	}
	return n, nil
}
