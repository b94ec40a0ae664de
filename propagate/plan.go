package propagate

import (
	"encoding/binary"
	"slices"

	"autoshard/ir"
	"autoshard/priority"
)

// plan is a rule prepared for propagation.
type plan struct {
	rule    *ir.Rule
	kinds   []factorKind
	special bool  // some factor is special
	whole   bool  // every dimension has one factor at most
	like    int32 // the first plan by which ops propagate alike
}

type factorKind uint8

const (
	passThroughFactor factorKind = iota
	specialFactor
	blockedFactor
)

// planFor returns the plan of a rule. Plans that differ in sizes only are mostly alike, as those of the sums of small and of large
// matrices are: sizes matter only where one tensor is larger than another, and where several factors share a dimension and have to
// divide it.
func (t *tables) planFor(r *ir.Rule) int32 {
	if id, ok := t.planOf[r]; ok {
		return id
	}
	p := plan{rule: r, kinds: make([]factorKind, len(r.Sizes)), whole: hasWholeDims(r.Operands) && hasWholeDims(r.Results)}
	for f := range int32(len(r.Sizes)) {
		switch {
		case slices.Contains(r.Blocked, f):
			p.kinds[f] = blockedFactor
		case !priority.IsPassThrough(r, f):
			p.kinds[f], p.special = specialFactor, true
		}
	}
	id := int32(len(t.plans))
	signature := p.signature()
	if like, ok := t.planLike[string(signature)]; ok {
		p.like = like
	} else {
		p.like = id
		t.planLike[string(signature)] = id
	}
	t.plans = append(t.plans, p)
	t.planOf[r] = id
	return id
}

func hasWholeDims(tensors [][][]int32) bool {
	for _, dims := range tensors {
		for _, factors := range dims {
			if len(factors) > 1 {
				return false
			}
		}
	}
	return true
}

// signature is equal for plans by which ops propagate alike: the factors of all dimensions, their kinds, and what
// matters of their sizes.
func (p *plan) signature() []byte {
	r := p.rule
	key := binary.AppendUvarint(make([]byte, 0, 64), uint64(len(p.kinds)))
	for _, kind := range p.kinds {
		key = append(key, byte(kind))
	}
	key = binary.AppendUvarint(key, uint64(len(r.Operands)))
	key = binary.AppendUvarint(key, uint64(len(r.Results)))
	sizes := make([]int64, 0, 8)
	for _, tensors := range [...][][][]int32{r.Operands, r.Results} {
		for _, dims := range tensors {
			key = binary.AppendUvarint(key, uint64(len(dims)))
			size := int64(1)
			for _, factors := range dims {
				key = binary.AppendUvarint(key, uint64(len(factors)))
				for _, f := range factors {
					key = binary.AppendUvarint(key, uint64(f))
					size *= r.Sizes[f]
				}
			}
			sizes = append(sizes, size)
		}
	}
	if !p.whole || slices.ContainsFunc(sizes, func(size int64) bool { return size < 0 }) { // beyond 64 bits
		for _, size := range r.Sizes {
			key = binary.AppendVarint(key, size)
		}
		return key
	}
	order := slices.Clone(sizes)
	slices.Sort(order)
	order = slices.Compact(order)
	for _, size := range sizes {
		rank, _ := slices.BinarySearch(order, size)
		key = binary.AppendUvarint(key, uint64(rank))
	}
	return key
}
