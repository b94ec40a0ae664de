package search

import "container/heap"

// minQueue holds items 0..n-1 by weight, ties by number. Changing a weight leaves the old entry behind, to be skipped later.
type minQueue struct {
	weight  []int64 // -1 for items that are not waiting
	entries weighted
}

func newMinQueue(n int32) *minQueue {
	q := &minQueue{weight: make([]int64, n)}
	for v := range q.weight {
		q.weight[v] = -1
	}
	return q
}

// set adds an item or changes its weight, at least 0.
func (q *minQueue) set(v int32, weight int64) {
	if q.weight[v] != weight {
		q.weight[v] = weight
		heap.Push(&q.entries, entry{weight, v})
	}
}

// least returns the waiting item of least weight; there must be one.
func (q *minQueue) least() (int32, int64) {
	for q.weight[q.entries[0].v] != q.entries[0].weight {
		heap.Pop(&q.entries)
	}
	return q.entries[0].v, q.entries[0].weight
}

// drop takes an item out.
func (q *minQueue) drop(v int32) { q.weight[v] = -1 }

func (q *minQueue) waits(v int32) bool { return q.weight[v] >= 0 }

type entry struct {
	weight int64
	v      int32
}

// weighted implements heap.Interface.
type weighted []entry

func (w weighted) Len() int { return len(w) }
func (w weighted) Less(i, j int) bool {
	return w[i].weight < w[j].weight || w[i].weight == w[j].weight && w[i].v < w[j].v
}
func (w weighted) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *weighted) Push(x any)   { *w = append(*w, x.(entry)) }
func (w *weighted) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}
