package localform

import "slices"

// Kept is what every device keeps of what it computes for the windows that touch its block: Rows from At[i] on, after Low rows were put
// before that and High rows behind that no window touches.
type Kept struct {
	Rows, Low, High int64
	At              []int64
	computed        int64
}

// Copies returns the rows that each local op reads and writes in memory that puts rows around what is computed, and takes out what is
// kept.
func (k *Kept) Copies() (rows []int64) {
	if k.Low+k.High > 0 {
		rows = append(rows, 2*k.computed+k.Low+k.High)
	}
	if k.Low+k.computed+k.High != k.Rows {
		rows = append(rows, 2*k.Rows)
	}
	return rows
}

// Kept returns it for k devices.
func (d *Dim) Kept(k int64) Kept {
	seen := d.pieces(k)[0]
	kept := Kept{Rows: Blocks{d.M, k}.Size(), At: make([]int64, k), computed: seen.Rows}
	for i := range kept.At {
		kept.At[i] = int64(i)*kept.Rows - seen.Lo[i]
	}
	kept.Low = max(0, -slices.Min(kept.At))
	kept.High = max(0, slices.Max(kept.At)+kept.Rows-seen.Rows)
	for i := range kept.At {
		kept.At[i] += kept.Low
	}
	return kept
}
