// Package ratios sums up measurements beside others: ratios of two figures, of which the geometric mean counts, since twice as much and
// half as much cancel in it.
//
//	var times ratios.Ratios
//	times.Add(2, "mlp_train")
//	times.Add(0.5, "gpt_train")
//	fmt.Println(times.Text(2)) // 1.00 over 2, at most 2.00 (mlp_train)
package ratios

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"autoshard/internal/lists"
)

// Ratios are positive, each found somewhere. The zero value has none.
type Ratios struct {
	values []float64
	most   float64 // the largest
	where  string  // it was found
}

// Add adds a ratio that was found somewhere.
func (r *Ratios) Add(ratio float64, where string) {
	if r.values = append(r.values, ratio); ratio > r.most {
		r.most, r.where = ratio, where
	}
}

// Len returns how many there are.
func (r *Ratios) Len() int { return len(r.values) }

// Mean returns the geometric mean, 1 of none.
func (r *Ratios) Mean() float64 { return mean(r.values) }

// Away returns the geometric mean of the factors by which they are away from one, in either direction: 1.25 where that is a quarter.
func (r *Ratios) Away() float64 {
	return mean(lists.Map(r.values, func(x float64) float64 { return max(x, 1/x) }))
}

// mean is one of none.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return 1
	}
	return stat.GeometricMean(values, nil)
}

// Most returns the largest and where it was found, nothing of none.
func (r *Ratios) Most() (ratio float64, where string) { return r.most, r.where }

// Least returns the smallest, 0 of none.
func (r *Ratios) Least() float64 {
	if len(r.values) == 0 {
		return 0
	}
	return slices.Min(r.values)
}

// Count returns how many pass a test.
func (r *Ratios) Count(test func(ratio float64) bool) int { return len(lists.Filter(r.values, test)) }

// Text returns the mean, the number of ratios and the largest with so many digits behind the point.
func (r *Ratios) Text(digits int) string {
	return fmt.Sprintf("%.*f over %d, at most %.2f (%s)", digits, r.Mean(), r.Len(), r.most, r.where)
}
