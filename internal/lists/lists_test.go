package lists_test

import (
	"fmt"
	"strconv"

	"autoshard/internal/lists"
)

func Example() {
	dims := []int64{2, 3, 5}
	fmt.Println(lists.Map(dims, func(n int64) string { return strconv.FormatInt(n, 16) }))
	fmt.Println(lists.Of(3, func(i int) int { return i * i }))
	fmt.Println(lists.Range[int64](4))
	fmt.Println(lists.Pick(dims, []int{2, 0}))
	fmt.Println(lists.Filter(dims, func(n int64) bool { return n%2 == 1 }))
	fmt.Println(lists.Others(5, []int64{1}, []int64{4, 0}))
	fmt.Println(lists.Inverse([]int64{2, 0, 1}))
	fmt.Println(lists.Product(dims), lists.Product[int](nil))
	fmt.Println(lists.Joined(dims, func(n int64) string { return fmt.Sprintf("d%d", n) }))
	// Output:
	// [2 3 5]
	// [0 1 4]
	// [0 1 2 3]
	// [5 2]
	// [3 5]
	// [2 3]
	// [1 2 0]
	// 30 1
	// d2, d3, d5
}
