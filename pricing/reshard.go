package pricing

import (
	"context"
	"slices"
	"strings"

	"autoshard/cost/notation"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/resharding"
	"autoshard/subaxis"
)

// ReshardRequest asks for the way of an array from one sharding to another.
type ReshardRequest struct {
	Setting
	Move   string // A[I_X, J] -> A[I, J_X]
	Memory int64  // as in resharding.Request
}

// moveFile names the text of a move in errors.
const moveFile = "MOVE"

// Reshard returns the cheapest way, as resharding.Find does.
func Reshard(ctx context.Context, r *ReshardRequest) (*resharding.Answer, error) {
	q, err := r.Setting.read()
	if err != nil {
		return nil, err
	}
	from, to, err := notation.ParseMove(moveFile, r.Move, &q.mesh)
	if err != nil {
		return nil, err
	}
	names := func(a *notation.Array) []string {
		return lists.Map(a.Dims, func(d notation.Dim) string { return d.Name })
	}
	if !slices.Equal(names(from), names(to)) {
		e := diag.Invalid(diag.BadSharding, diag.Position{File: moveFile, Line: 1, Col: 1}, "the dimensions before and after must be the same, "+
			"in the same order: %v and %v", names(from), names(to))
		e.Diagnostics[0].Source = r.Move
		return nil, e
	}
	a, err := q.sized(moveFile, r.Move, from)
	if err != nil {
		return nil, err
	}
	request := resharding.Request{Mesh: r.Mesh, Tensor: dtype.Format(a.dtype, a.shape), From: q.spec(from), To: q.spec(to),
		Hardware: q.Hardware, Memory: r.Memory, Book: r.Book}
	found, err := resharding.Find(ctx, &request)
	if err != nil || !r.Book {
		return found, err
	}
	request.Book = false
	ours, err := resharding.Find(ctx, &request)
	if err != nil {
		return nil, err
	}
	found.Ours = &ours.Totals
	return found, nil
}

// spec writes a sharding as JAX does: P('x', ('y', 'z'), unreduced={'w'}).
func (q *question) spec(a *notation.Array) string {
	join := func(axes []subaxis.Ref) string {
		return strings.Join(lists.Map(axes, func(r subaxis.Ref) string { return "'" + q.mesh.Axes[r.Axis].Name + "'" }), ", ")
	}
	parts := lists.Map(a.Dims, func(d notation.Dim) string {
		switch len(d.Axes) {
		case 0:
			return "None"
		case 1:
			return join(d.Axes)
		}
		return "(" + join(d.Axes) + ")"
	})
	if len(a.Unreduced) > 0 {
		parts = append(parts, "unreduced={"+join(a.Unreduced)+"}")
	}
	return "P(" + strings.Join(parts, ", ") + ")"
}
