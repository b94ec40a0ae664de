package parallel_test

import (
	"runtime"
	"slices"
	"testing"

	"autoshard/internal/parallel"
)

// Every number comes once, on one core and on several.
func TestEach(t *testing.T) {
	for _, cores := range []int{1, 4} {
		before := runtime.GOMAXPROCS(cores)
		for _, n := range []int{0, 1, 3, 1000} {
			each, ranges := make([]int, n), make([]int, n)
			parallel.Each(n, func(i int) { each[i]++ })
			parallel.Ranges(n, 7, func(from, to int) {
				if to-from > 7 {
					t.Errorf("range from %d to %d", from, to)
				}
				for i := from; i < to; i++ {
					ranges[i]++
				}
			})
			if want := slices.Repeat([]int{1}, n); !slices.Equal(each, want) || !slices.Equal(ranges, want) {
				t.Errorf("%d on %d cores: %v, %v", n, cores, each, ranges)
			}
		}
		runtime.GOMAXPROCS(before)
	}
}
