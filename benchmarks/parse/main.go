// Command parse times how programs are read, verified and printed here and by the MLIR inside jaxlib, with the same
// files in one run, and writes a table of times, ratios and peak memory.
//
//	AUTOSHARD_PYTHON=python3 AUTOSHARD_SHARED=shared go run ./benchmarks/parse -o benchmarks/results/parse.md
//
// Files named as arguments are measured instead of the largest shared model and a generated module of 100,000 ops.
// Each side reads each file in a process of its own that times itself, so that peaks of memory do not add up.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"autoshard/benchmarks/site"
)

func main() {
	out := flag.String("o", "", "file to write the table to; standard output alone if empty")
	rounds := flag.Int("rounds", 10, "rounds of which the fastest counts")
	child := flag.String("child", "", "measure this side alone and write JSON, for the command itself")
	flag.Parse()
	site.Exit("parse", run(*out, *rounds, *child, flag.Args()))
}

func run(out string, rounds int, child string, files []string) error {
	if child != "" {
		return measureHere(os.Stdout, child, rounds)
	}
	dir, err := os.MkdirTemp("", "parse")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	texts, err := prepare(dir, files)
	if err != nil {
		return err
	}
	var rows []row
	for _, text := range texts {
		r, err := measureBoth(text, rounds)
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	return site.Publish(table(rows, rounds), out)
}

// prepare writes the programs to measure into a folder, unpacked, and returns their paths.
func prepare(dir string, files []string) ([]string, error) {
	if len(files) == 0 {
		largest, err := largestModel()
		if err != nil {
			return nil, err
		}
		files = []string{largest}
		generated := filepath.Join(dir, "100k_ops.mlir")
		if err := os.WriteFile(generated, manyOps(100_000), 0o600); err != nil {
			return nil, err
		}
		files = append(files, generated)
	}
	texts := make([]string, len(files))
	for i, file := range files {
		data, err := site.ReadText(file)
		if err != nil {
			return nil, err
		}
		texts[i] = filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".gz"))
		if err := os.WriteFile(texts[i], data, 0o600); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// largestModel returns the shared model with the most text.
func largestModel() (string, error) {
	files, err := site.Shared("models/*.mlir*")
	if err != nil {
		return "", err
	}
	largest, most := "", -1
	for _, file := range files {
		data, err := site.ReadText(file)
		if err != nil {
			return "", err
		}
		if len(data) > most {
			largest, most = file, len(data)
		}
	}
	return largest, nil
}

// manyOps returns a program of n elementwise ops.
func manyOps(n int) []byte {
	var text bytes.Buffer
	text.WriteString("module {\n  func.func @main(%arg0: tensor<8x128xf32>, %arg1: tensor<8x128xf32>) -> tensor<8x128xf32> {\n")
	text.WriteString("    %0 = stablehlo.add %arg0, %arg1 : tensor<8x128xf32>\n    %1 = stablehlo.multiply %0, %arg1 : tensor<8x128xf32>\n")
	for i := 2; i < n; i++ {
		fmt.Fprintf(&text, "    %%%d = stablehlo.%s %%%d, %%%d : tensor<8x128xf32>\n", i, []string{"add", "multiply", "maximum"}[i%3], i-1, i-2)
	}
	fmt.Fprintf(&text, "    return %%%d : tensor<8x128xf32>\n  }\n}\n", n-1)
	return text.Bytes()
}
