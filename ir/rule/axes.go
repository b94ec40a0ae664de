package rule

import "autoshard/subaxis"

// Axes hands out the axes of one dimension to its factors, from the major axis on, whole or in pieces
// (source: shardy.md section 3.2).
type Axes struct {
	rest []subaxis.Ref
	cur  subaxis.Ref // what is left of the current axis
	more bool
}

// AxesOf returns the axes of a dimension, to be handed out.
func AxesOf(axes []subaxis.Ref) Axes {
	a := Axes{rest: axes}
	a.next()
	return a
}

// Left says whether some axes are left.
func (a *Axes) Left() bool { return a.more }

func (a *Axes) next() {
	a.more = len(a.rest) > 0
	if a.more {
		a.cur, a.rest = a.rest[0], a.rest[1:]
	}
}

// take removes the major part of size n from the current axis.
func (a *Axes) take(n int32) subaxis.Ref {
	piece := subaxis.Ref{Axis: a.cur.Axis, Pre: a.cur.Pre, Size: n}
	if n == a.cur.Size {
		a.next()
	} else {
		a.cur.Pre, a.cur.Size = a.cur.Pre*n, a.cur.Size/n
	}
	return piece
}

// Dividing appends axes to a list while they divide a factor of that size, and returns what is left of the size: 1 where
// the factor is cut to single elements, so that the next one may be cut, too.
func (a *Axes) Dividing(list []subaxis.Ref, size int64) ([]subaxis.Ref, int64) {
	for a.more {
		g := subaxis.GCD(size, int64(a.cur.Size))
		if g == 1 && a.cur.Size != 1 {
			break
		}
		list = append(list, a.take(int32(g)))
		size /= g
	}
	return list, size
}

// Rest appends all axes that are left to a list, merging neighbours that come after its first n.
func (a *Axes) Rest(list []subaxis.Ref, n int) []subaxis.Ref {
	for a.more {
		list = append(list[:n], subaxis.AppendMerge(list[n:], a.take(a.cur.Size))...)
	}
	return list
}
