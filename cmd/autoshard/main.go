// Command autoshard decides how to cut a large model over many devices, shows why, and proves that the cut program
// computes the same. See README.md, or run it with --help.
package main

import (
	"os"
	"runtime"

	"autoshard/internal/cli"
)

// ballastBytes is memory that is never touched, so that no page of it is resident. The collector starts when the heap has doubled, from
// 4 MiB on, which is dozens of times while a small model is planned: it counts the ballast as live, and starts at 128 MiB.
const ballastBytes = 64 << 20

func main() {
	ballast := make([]byte, ballastBytes)
	status := cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(ballast)
	os.Exit(status)
}
