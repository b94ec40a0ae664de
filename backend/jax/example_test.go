package jax_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"autoshard/backend/jax"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
)

// An emitted program runs in two processes with four virtual devices each. The example needs a Python with JAX and is not run.
func ExampleRun() {
	source, err := os.ReadFile("program.py")
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.FromFloats(dtype.F32, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	options := jax.Options{Devices: 8, Processes: 2, Env: os.Environ()}
	outputs, err := jax.Run(context.Background(), source, []*tensor.Tensor{&x}, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, out := range outputs {
		fmt.Println(out.Name, out.Tensor)
	}
}

// The last line of a script that starts one of two hosts.
func ExampleLauncher() {
	script, err := jax.Launcher("shell", jax.Launch{Name: "train", Program: "train.py", Hosts: 2, Devices: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	lines := strings.Split(strings.TrimSpace(string(script)), "\n")
	fmt.Println(strings.TrimSpace(lines[len(lines)-1]))
	// Output: --coordinator "$coordinator:${PORT:-8476}" --processes 2 --process "$number" "$@"
}
