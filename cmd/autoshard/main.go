// Command autoshard decides how to cut a large model over many devices, shows why, and proves that the cut program
// computes the same. See README.md, or run it with --help.
package main

import (
	"os"

	"autoshard/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
