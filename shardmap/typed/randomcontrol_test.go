package typed_test

import (
	"slices"

	"autoshard/ir/dtype"
)

// body draws what stands inside of a loop or branch: some steps, and what finish returns of them.
func (d *drawing) body(params []drawn, finish func(inner []drawn) []drawn) (b randomBody, results []drawn) {
	steps, env := d.steps, len(d.env)
	b.Params = []int{}
	var inner []drawn
	for _, x := range params {
		inner = append(inner, d.define(x))
		b.Params = append(b.Params, inner[len(inner)-1].id)
	}
	d.steps = &b.Steps
	d.depth++
	for range 1 + d.pick(3) {
		d.step()
	}
	results = finish(inner)
	d.depth--
	for _, x := range results {
		b.Results = append(b.Results, x.id)
	}
	d.steps, d.env = steps, d.env[:env]
	return b, results
}

// fit returns a value for a carry: of its type, and not larger.
func (d *drawing) fit(c drawn) drawn {
	y, ok := d.one(func(y drawn) bool {
		return y.like(c) && y.id != c.id && y.v&^c.v == 0 && y.real&^c.real == 0 && (c.coarse || !y.coarse)
	})
	if !ok {
		return c
	}
	if y.float() && y.bound > c.bound {
		k := 1.0
		for ; y.bound*k > c.bound; k /= 2 {
		}
		y = d.emit(randomStep{Op: "with", Mode: "mul", Value: k}, y.t, y.dims, y.bound*k, y)
	}
	return d.raised(y, c.v)
}

// raised casts a value over the axes that it lacks.
func (d *drawing) raised(y drawn, v axisMask) drawn {
	if missing := v &^ y.v; missing != 0 && !d.Unchecked {
		return d.cast(y, missing, d.names(missing))
	}
	return y
}

func small(x drawn) bool { return x.size() <= 16 }

// carries draws the values that a loop begins with.
func (d *drawing) carries() (out []drawn) {
	for range 1 + d.pick(2) {
		if x, ok := d.one(small); ok {
			out = append(out, x)
		}
	}
	return out
}

func (d *drawing) scan() bool {
	carry := d.carries()
	if d.depth > 1 || len(carry) == 0 {
		return false
	}
	s := &randomStep{Op: "scan", Length: int64(1 + d.pick(3)), Source: int64(len(carry)), Reverse: d.chance(2)}
	in, params := slices.Clone(carry), slices.Clone(carry)
	if x, ok := d.one(func(x drawn) bool { return hasDims(x) && x.dims[0] <= 4 && small(x) }); ok {
		s.Length = x.dims[0]
		row := x
		row.dims = x.dims[1:]
		in, params = append(in, x), append(params, row)
	}
	for _, x := range in {
		s.In = append(s.In, x.id)
	}
	body, results := d.body(params, func(inner []drawn) (out []drawn) {
		for _, c := range inner[:len(carry)] {
			out = append(out, d.fit(c))
		}
		if y, ok := d.one(small); ok && d.chance(2) {
			out = append(out, y)
		}
		return out
	})
	s.Bodies = []randomBody{body}
	for k, x := range results {
		if k < len(carry) {
			x = carry[k]
		} else {
			x.dims = slices.Insert(slices.Clone(x.dims), 0, s.Length)
		}
		s.Out = append(s.Out, d.define(x).id)
	}
	*d.steps = append(*d.steps, s)
	return true
}

// number3 returns a number from 0 to 3 that may differ between devices.
func (d *drawing) number3() drawn {
	x, ok := d.one(func(x drawn) bool { return x.t == dtype.I32 && len(x.dims) == 0 })
	if !ok {
		d.axisIndex()
		x = d.env[len(d.env)-1]
	}
	three := d.number(3)
	return d.emit(randomStep{Op: "binary", Mode: "and"}, x.t, nil, 3, x, three)
}

// while draws a loop that ends after a number of rounds, of which only the run may know how many there are.
func (d *drawing) while() bool {
	if d.depth > 1 || d.VJP && !d.chance(8) {
		return false
	}
	carry := d.carries()
	if len(carry) == 0 {
		return false
	}
	s := &randomStep{Op: "while", Mode: "counted", Length: int64(d.pick(4))}
	var limit drawn
	if d.chance(2) {
		limit = d.number3()
		s.Mode, s.In = "dynamic", []int{limit.id}
	}
	params := slices.Clone(carry)
	for k, c := range carry {
		s.In = append(s.In, c.id)
		params[k].real |= limit.real
	}
	d.loose = d.loose || limit.v != 0 // of the number of rounds, which begins with a constant
	outer := d.divergent
	d.divergent |= limit.real
	body, _ := d.body(params, func(inner []drawn) (out []drawn) {
		for _, c := range inner {
			out = append(out, d.fit(c))
		}
		return out
	})
	d.divergent = outer
	s.Bodies = []randomBody{body}
	for _, x := range params {
		s.Out = append(s.Out, d.define(x).id)
	}
	*d.steps = append(*d.steps, s)
	return true
}

// branch draws a branch that returns a value, of the type of another one if that has a type.
func (d *drawing) branch(like drawn) (randomBody, drawn) {
	body, out := d.body(nil, func([]drawn) []drawn {
		if like.t == dtype.Invalid {
			x, _ := d.one(small)
			return []drawn{x}
		}
		x, ok := d.one(func(x drawn) bool { return x.like(like) })
		if !ok {
			x = d.constant(like.t, like.dims)
		}
		return []drawn{x}
	})
	return body, out[0]
}

// cond draws two branches that a truth value selects, or four that a number does.
func (d *drawing) cond() bool {
	if d.depth > 1 {
		return false
	}
	n, which := 2, drawn{}
	if d.chance(3) {
		n, which = 4, d.number3()
	} else {
		which = d.decision(nil)
	}
	outer := d.divergent
	d.divergent |= which.real
	s := &randomStep{Op: "cond", In: []int{which.id}}
	results := make([]drawn, n)
	s.Bodies = make([]randomBody, n)
	for k := range n {
		s.Bodies[k], results[k] = d.branch(results[0])
	}
	x := results[0]
	for _, y := range results {
		x.v, x.real, x.bound, x.coarse = x.v|y.v, x.real|y.real, max(x.bound, y.bound), x.coarse || y.coarse
	}
	for k := range results {
		steps := d.steps
		d.steps = &s.Bodies[k].Steps
		env := len(d.env)
		s.Bodies[k].Results[0] = d.raised(results[k], x.v).id
		d.steps, d.env = steps, d.env[:env]
	}
	d.divergent = outer
	d.loose = d.loose || !d.Unchecked && which.v&^x.v != 0
	x.real |= which.real
	s.Out = []int{d.define(x).id}
	*d.steps = append(*d.steps, s)
	return true
}
