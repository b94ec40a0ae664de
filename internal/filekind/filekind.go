// Package filekind tells what a file is from its content, so that a command that is given the wrong one can say so, and
// what to do with it:
//
//	err := filekind.Check("plan.json", src, filekind.Model)
//	// plan.json: this is a plan, not a model; `autoshard run plan.json` runs it, …
//
// It recognises what people have at hand around a model: our own files, what JAX and XLA write, weights, and sources. What
// it does not recognise is left to the reader that the place has.
package filekind

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
)

// Kind is what a file holds.
type Kind uint8

// The kinds that places of the command line and the service want, and Other for what none of them takes.
const (
	Unknown  Kind = iota
	Model         // model.json
	MLIR          // StableHLO and other MLIR: text, bytecode, or exported by JAX
	Plan          // plan.json
	ShardMap      // the text of a shard_map program
	Arrays        // .npz, .npy or safetensors
	Problem       // a selection problem
	Other
)

// names are what the kinds are called.
var names = [...]string{Model: "a model", MLIR: "MLIR", Plan: "a plan", ShardMap: "a shard_map program",
	Arrays: "a file of arrays", Problem: "a selection problem"}

// Check returns an error of class diag.ErrInvalid where a text is recognised and not of a kind that is wanted, nil
// otherwise. The first kind is what the error says is wanted.
func Check(file string, src []byte, wanted ...Kind) error {
	f := recognise(src)
	if f.kind == Unknown {
		return nil
	}
	if slices.Contains(wanted, f.kind) {
		return nil
	}
	return diag.Invalid(diag.BadFile, diag.Position{File: file}, "this is %s, not %s", f.name, names[wanted[0]]).
		WithNote(diag.Position{}, "%s", f.advice(file, wanted[0]))
}

// Is says whether a text is recognised as one of a kind.
func Is(src []byte, kind Kind) bool { return recognise(src).kind == kind }

// found is a recognised file.
type found struct {
	kind   Kind
	name   string
	advise string // where it does not depend on what is wanted
}

const (
	fromJAX   = "a model is StableHLO, as `jax.jit(f).lower(*args).as_text()` returns it or `jax.export` serializes it, or model.json"
	fromNumPy = "arrays come as `numpy.savez('in.npz', arg0=…, arg1=…)` writes them, as .npy or as safetensors"
)

// advice says what to do with a file in a place that wants another.
func (f *found) advice(file string, wanted Kind) string {
	switch {
	case wanted == Arrays:
		return fromNumPy
	case f.advise != "":
		return f.advise
	case f.kind == Plan:
		return fmt.Sprintf("`autoshard run %s` runs it, `autoshard emit %s` writes it as a program; what `plan`, `propagate` and "+
			"`check` take is the model that it was made from", file, file)
	case f.kind == ShardMap:
		return fmt.Sprintf("`autoshard run %s`, `emit` and `check` take shard_map programs", file)
	case f.kind == Model && wanted == MLIR:
		return fmt.Sprintf("`autoshard propagate %s --format mlir` writes it as MLIR", file)
	case f.kind == Model, f.kind == MLIR:
		return fmt.Sprintf("`autoshard plan %s -o plan.json` makes a plan of it", file)
	case f.kind == Arrays:
		return "arrays go to `--inputs` and `--expect`; " + fromJAX
	}
	return fromJAX
}

// recognise says what a file is.
func recognise(src []byte) found {
	if f := binaryFile(src); f.kind != Unknown {
		return f
	}
	return text(strings.TrimPrefix(string(src[:min(len(src), head)]), "\ufeff"))
}

// head bounds the bytes of a text that are looked at.
const head = 64 << 10

// IsJSON says whether a text begins as JSON does, and not as resources of MLIR do.
func IsJSON(src []byte) bool {
	text := bytes.TrimLeft(src, " \t\r\n")
	return len(text) > 0 && text[0] == '{' && !bytes.HasPrefix(text, []byte("{-#"))
}
