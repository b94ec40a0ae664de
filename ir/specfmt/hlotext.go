package specfmt

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
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
func (s *scanner) hloText(h *hloText) error {
	if err := s.expect("{"); err != nil {
		return err
	}
	for s.space(); !s.next("}"); s.space() {
		if s.at == len(s.text) {
			return s.expect("}")
		}
		if err := s.hloAttribute(h); err != nil {
			return err
		}
		s.next(",")
	}
	if err := s.end(); err != nil {
		return err
	}
	if h.word == "" && h.dims == nil {
		return s.errorf(diag.Syntax, 0, "the sharding has neither tiles nor a word such as `replicated`")
	}
	if len(h.groups) > len(h.dims) {
		return s.errorf(diag.BadSharding, h.at, "the sharding has %d subgroups, but only %d tile dimensions", len(h.groups), len(h.dims))
	}
	return nil
}

func (s *scanner) hloAttribute(h *hloText) (err error) {
	at := s.at
	switch name := s.word(); name {
	case "replicated", "manual", "unreduced", "unknown", "maximal":
		if h.word != "" || h.dims != nil {
			return s.errorf(diag.BadSharding, at, "`%s` cannot follow another kind of sharding", name)
		}
		h.word = name
	case "device":
		if err := s.expect("="); err != nil {
			return err
		}
		h.device, err = s.number(63)
	case "devices":
		if h.word != "" || h.dims != nil {
			return s.errorf(diag.BadSharding, at, "tiles cannot follow another kind of sharding")
		}
		h.at = at
		err = s.hloDevices(h)
	case "last_tile_dim_replicate":
		h.groups = []subgroup{replicatedGroup}
	case "last_tile_dims":
		err = s.hloGroups(h)
	case "metadata":
		h.dropped.add("metadata is left out")
		err = s.hloMetadata()
	case "shard_as", "shard_like":
		h.dropped.add("the group of `%s` is left out", name)
		_, err = s.number(63)
	default:
		s.at = at
		err = s.expected("an attribute of a sharding")
	}
	return err
}

// hloGroups reads ={manual, replicated}.
func (s *scanner) hloGroups(h *hloText) error {
	if err := s.expect("="); err != nil {
		return err
	}
	if err := s.expect("{"); err != nil {
		return err
	}
	return s.list("}", func() error {
		name := s.word()
		i := slices.Index(subgroupNames, name)
		if i < 0 {
			s.at -= len(name)
			return s.expected("one of " + strings.Join(subgroupNames, ", "))
		}
		h.groups = append(h.groups, subgroup(i))
		return nil
	})
}

// hloMetadata skips ={op_name="…"}, with anything in braces and quotes.
func (s *scanner) hloMetadata() error {
	if err := s.expect("={"); err != nil {
		return err
	}
	for depth := 1; depth > 0; s.at++ {
		switch s.peek() {
		case '{':
			depth++
		case '}':
			depth--
		case '"':
			if _, err := s.quoted(`"`); err != nil {
				return err
			}
			s.at--
		case 0:
			return s.expect("}")
		}
	}
	return nil
}

// hloDevices reads =[2,1,4]<=[4,2]T(1,0), or =[2,2]0,2,1,3.
func (s *scanner) hloDevices(h *hloText) (err error) {
	if err := s.expect("="); err != nil {
		return err
	}
	if h.dims, err = s.sizes("[", "]"); err != nil {
		return err
	}
	total, err := s.product(h.dims, h.at)
	if err != nil {
		return err
	}
	if s.next("<=") {
		h.devices, err = s.iota(total)
	} else {
		h.devices, err = s.devices(total)
	}
	if err == nil && !isPermutation(h.devices) {
		err = s.errorf(diag.BadSharding, h.at, "the devices must be the numbers 0 to %d, each once", total-1)
	}
	return err
}

func (s *scanner) devices(total int64) (list []int64, err error) {
	for {
		id, err := s.number(63)
		if err != nil {
			return nil, err
		}
		if list = append(list, id); int64(len(list)) == total {
			return list, nil
		}
		if err := s.expect(","); err != nil {
			return nil, err
		}
	}
}

// iota reads [4,2]T(1,0) and returns the devices that it stands for.
func (s *scanner) iota(total int64) ([]int64, error) {
	at := s.at
	shape, err := s.sizes("[", "]")
	if err != nil {
		return nil, err
	}
	if n, err := s.product(shape, at); err != nil || n != total {
		return nil, s.errorf(diag.BadSharding, at, "the tiles are on %d devices, the iota has another number", total)
	}
	perm := make([]int64, len(shape))
	for i := range perm {
		perm[i] = int64(i)
	}
	if s.next("T") {
		at := s.at
		if perm, err = s.sizes("(", ")"); err != nil {
			return nil, err
		}
		if len(perm) != len(shape) || !isPermutation(perm) {
			return nil, s.errorf(diag.BadSharding, at, "the transposition must name each of the %d dimensions once", len(shape))
		}
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
	return out, nil
}

func (s *scanner) sizes(open, end string) (list []int64, err error) {
	if err := s.expect(open); err != nil {
		return nil, err
	}
	err = s.list(end, func() error {
		n, err := s.number(32)
		list = append(list, n)
		return err
	})
	if err == nil && len(list) == 0 {
		err = s.expected("a number")
	}
	return list, err
}

// product returns how many devices a shape has.
func (s *scanner) product(shape []int64, at int) (int64, error) {
	n := int64(1)
	for _, d := range shape {
		switch {
		case d < 1:
			return 0, s.errorf(diag.BadSharding, at, "a tile dimension has size %d, must be at least 1", d)
		case d > maxDevices/n:
			return 0, diag.TooLarge(diag.BadSharding, s.pos(at), "the tiles are on more than %d devices", maxDevices)
		}
		n *= d
	}
	return n, nil
}
