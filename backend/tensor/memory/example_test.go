package memory_test

import (
	"fmt"

	"autoshard/backend/tensor/memory"
)

// What is taken has room for what was asked for, and a watcher finds who gives it back twice.
func Example() {
	w := memory.Watch(255)
	data := memory.Take(40)
	fmt.Println(len(data), cap(data), data[0])
	memory.Give(data)
	memory.Give(data)
	fmt.Println(w.Stop())
	// Output:
	// 40 48 255
	// 48 bytes were given back twice
}
