package filekind_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/internal/filekind"
)

func zipOf(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.Create(name); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every kind of file is told by its content, in a place that wants a model and in one that wants a plan.
func TestCheck(t *testing.T) {
	safetensors := `{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	header := binary.LittleEndian.AppendUint64(nil, uint64(len(safetensors)))
	const ours = "" // it is what is wanted, or nothing that is recognised
	for _, test := range []struct{ name, src, model, plan string }{
		{"MLIR", "#loc = loc(unknown)\n\nmodule @jit_f {\n}\n", ours, "a model in MLIR, not a plan: `autoshard plan FILE -o plan.json`"},
		{"MLIR behind a line end", "\n// a comment\nfunc.func @main() {\n}\n", ours, "a model in MLIR"},
		{"resources", "{-#\n  dialect_resources: {}\n#-}\n", ours, "a model in MLIR"},
		{"bytecode", "ML\xefR\x0dStableHLO_v1.0.0\x00", ours, "a model in MLIR bytecode, not a plan: `autoshard plan FILE -o plan.json`"},
		{"model.json", `{"schema": "autoshard.model/v1", "inputs": []}`, ours, "a model, not a plan: `autoshard plan FILE -o plan.json`"},
		{"plan.json", `{"schema": "autoshard.plan/v1"}`, "a plan, not a model: `autoshard run FILE` runs it", ours},
		{"report", `{"schema": "autoshard.check/v1"}`, "a report of `check`", "a report of `check`"},
		{"shard_map", "# c\nshard_map @f mesh=(x=2,)\n", "a shard_map program, not a model: `autoshard run FILE`", "a shard_map program"},
		{"HLO", "HloModule jit_f, entry", "HLO text of XLA, not a model: HLO comes after shardings", "HLO text"},
		{"HLO message", "\x0a\x05jit_f\x12\x06main.1\x1a\x00", "a module of HLO", "a module of HLO"},
		{"GraphDef", "\x0a\x10\x0a\x01x\x12\x0bPlaceholder\x00", "a TensorFlow graph", "a TensorFlow graph"},
		{"GraphDef text", "node {\n  name: \"x\"\n  op: \"Placeholder\"\n}\n", "a TensorFlow graph", "a TensorFlow graph"},
		{"Python", "# model\nimport jax\n", "Python source, not a model: run it and write", "Python source"},
		{"emitted", `"""f on the mesh x=2, as autoshard planned it.`, "a Python program that `emit` wrote", "a Python program"},
		{"notebook", `{"cells": [], "nbformat": 4}`, "a Jupyter notebook", "a Jupyter notebook"},
		{"Hugging Face", `{"architectures": ["L"], "model_type": "llama"}`, "a configuration of Hugging Face", "a configuration"},
		{"jaxpr", "{ lambda ; a:f32[]. let b:f32[] = tanh a in (b,) }", "a jaxpr", "a jaxpr"},
		{"npz", zipOf(t, "arg0.npy"), "an .npz file of arrays, not a model: arrays go to `--inputs`", "an .npz file"},
		{"npy", "\x93NUMPY\x01\x00", "one array (.npy), not a model: arrays go to `--inputs`", "one array"},
		{"PyTorch", zipOf(t, "model/data.pkl"), "a PyTorch file", "a PyTorch file"},
		{"zip", zipOf(t, "readme.txt"), "a zip archive", "a zip archive"},
		{"pickle", "\x80\x04\x95", "a Python pickle, not a model: pickles are never loaded", "a Python pickle"},
		{"safetensors", string(header) + safetensors + "12345678", "a safetensors file", "a safetensors file"},
		{"HDF5", "\x89HDF\r\n", "an HDF5 file", "an HDF5 file"},
		{"empty", "", ours, ours},
		{"spaces", " \n", ours, ours},
		{"rubbish", "\xac\x01\x02", ours, ours},
		{"list", "[1, 2]", ours, ours},
		{"other words", "modul { }", ours, ours},
	} {
		t.Run(test.name, func(t *testing.T) {
			check := func(want string, kinds ...filekind.Kind) {
				err := filekind.Check("FILE", []byte(test.src), kinds...)
				if want == ours {
					if err != nil {
						t.Errorf("got %v", err)
					}
					return
				}
				if !errors.Is(err, diag.ErrInvalid) {
					t.Fatalf("got %v, want %s", err, want)
				}
				d := diag.Diagnostics(err)[0]
				if got := d.Message + ": " + d.Notes[0].Message; !strings.HasPrefix(got, "this is "+want) {
					t.Errorf("got %s\nwant %s", got, want)
				}
			}
			check(test.model, filekind.Model, filekind.MLIR)
			check(test.plan, filekind.Plan)
		})
	}
}

// In the place of arrays, the advice is how to write them.
func TestArrays(t *testing.T) {
	err := filekind.Check("m.mlir", []byte("module {}"), filekind.Arrays)
	if err == nil || !strings.Contains(diag.Diagnostics(err)[0].Notes[0].Message, "numpy.savez") {
		t.Errorf("got %v", err)
	}
	for name, text := range map[string]string{"in.npz": zipOf(t, "arg0.npy"), "x.npy": "\x93NUMPY\x01\x00",
		"w.safetensors": "\x02\x00\x00\x00\x00\x00\x00\x00{}"} {
		if err := filekind.Check(name, []byte(text), filekind.Arrays); err != nil {
			t.Error(err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("\x0a\x05jit_f\x12\x06main.1"))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, src []byte) { _ = filekind.Check("file", src, filekind.Model) })
}
