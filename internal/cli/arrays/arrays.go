// Package arrays finds the inputs and expected outputs to run a plan with: named files, files recorded beside the
// model, or random numbers.
//
//	data, err := arrays.Find(ctx, streams, config, arrays.Of(program), "examples/mlp.json")
//	data.Source // "examples/mlp.in.npz, expected outputs examples/mlp.out.npz, tolerance 0.0001"
package arrays

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/program/inputs"
)

// Data is what a plan runs with.
type Data struct {
	Inputs    []*tensor.Tensor
	Expected  []*tensor.Tensor // nil: not known
	Tolerance autoshard.Tolerance
	Source    string // where it comes from, for people
}

// defaultTolerance is that of programs in float32.
const defaultTolerance = 1e-4

// recorded names what lies beside a model.
type recorded struct {
	File      string  `json:"file"`
	Inputs    string  `json:"inputs_file"`
	Expected  string  `json:"expected_file"`
	Tolerance float64 `json:"tolerance"`
}

// Ports are the inputs and outputs of what runs.
type Ports struct{ Inputs, Outputs []autoshard.Tensor }

// Of returns the ports of a program.
func Of(p *autoshard.Program) Ports { return Ports{p.Inputs, p.Outputs} }

// Find returns the data for what has those ports: the files of --inputs and --expect; otherwise those recorded beside the model, by
// manifest.json or by name; otherwise random inputs. The model's file may be "" or "-". Errors are of class
// diag.ErrInvalid or diag.ErrTooLarge.
func Find(ctx context.Context, s *cmdline.Streams, c *config.Config, p Ports, model string) (*Data, error) {
	r := beside(model)
	if c.Inputs != "" {
		r.Inputs, r.Expected = c.Inputs, ""
	}
	if c.Expect != "" {
		r.Expected = c.Expect
	}
	d := &Data{Tolerance: autoshard.Tolerance{Abs: c.ATol, Rel: defaultTolerance}}
	if r.Tolerance > 0 {
		d.Tolerance.Rel = r.Tolerance
	}
	if c.RTol >= 0 {
		d.Tolerance.Rel = c.RTol
	}
	var err error
	if r.Inputs == "" {
		d.Source = fmt.Sprintf("random, of seed %d", c.Seed)
		d.Inputs, err = inputs.Random(p.Inputs, c.Seed)
	} else {
		d.Source = r.Inputs
		d.Inputs, err = read(ctx, s, r.Inputs, "arg", p.Inputs)
	}
	if err != nil || r.Expected == "" {
		return d, err
	}
	d.Expected, err = read(ctx, s, r.Expected, "out", p.Outputs)
	d.Source += fmt.Sprintf(", expected outputs %s, tolerance %g", r.Expected, d.Tolerance.Rel)
	if d.Tolerance.Abs > 0 {
		d.Source += fmt.Sprintf(" and %g", d.Tolerance.Abs)
	}
	return d, err
}

// beside returns what is recorded for a model: its entry in manifest.json, or the files NAME.in.npz and NAME.out.npz.
func beside(model string) recorded {
	if model == "" || model == "-" {
		return recorded{}
	}
	dir, base := filepath.Split(strings.TrimSuffix(model, ".gz"))
	if text, err := os.ReadFile(filepath.Join(dir, "manifest.json")); err == nil {
		var entries []recorded
		if json.Unmarshal(text, &entries) == nil {
			at := slices.IndexFunc(entries, func(r recorded) bool { return strings.TrimSuffix(r.File, ".gz") == base })
			if at >= 0 && entries[at].Inputs != "" {
				r := entries[at]
				return recorded{r.File, existing(dir, r.Inputs), existing(dir, r.Expected), r.Tolerance}
			}
		}
	}
	name := strings.TrimSuffix(base, filepath.Ext(base))
	r := recorded{Inputs: existing(dir, name+".in.npz"), Expected: existing(dir, name+".out.npz")}
	if r.Inputs == "" {
		r.Expected = ""
	}
	return r
}

// existing returns the path of a file, or "" if there is none.
func existing(dir, name string) string {
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); name == "" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// read reads the arrays of a file, or of those in a directory, in the types of the program.
func read(ctx context.Context, s *cmdline.Streams, file, prefix string, tensors []autoshard.Tensor) ([]*tensor.Tensor, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		found, err := readDirectory(ctx, s, file)
		if err != nil {
			return nil, err
		}
		return inputs.Match(found, file, prefix, tensors)
	}
	name, data, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	return inputs.Read(name, data, prefix, tensors)
}

// readDirectory reads the arrays of all files of arrays in a directory. One that a file has alone has the file's name.
func readDirectory(ctx context.Context, s *cmdline.Streams, dir string) (all []npz.Array, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, diag.Invalid(diag.BadFile, diag.Position{File: dir}, "cannot be read: %v", err)
	}
	for _, e := range entries {
		extension := filepath.Ext(e.Name())
		if e.IsDir() || !slices.Contains([]string{".npy", ".npz", ".safetensors"}, extension) {
			continue
		}
		name, data, err := s.Read(ctx, filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		found, err := inputs.Arrays(name, data)
		if err != nil {
			return nil, err
		}
		for i := range found {
			found[i].Name = cmp.Or(found[i].Name, strings.TrimSuffix(e.Name(), extension))
		}
		all = append(all, found...)
	}
	return all, nil
}

// WriteOutputs writes arrays named out0, out1, … as an .npz file.
func WriteOutputs(s *cmdline.Streams, file string, outputs []*tensor.Tensor) error {
	named := make([]npz.Array, len(outputs))
	for i, t := range outputs {
		named[i] = npz.Array{Name: fmt.Sprintf("out%d", i), Tensor: *t}
	}
	var b bytes.Buffer
	if err := npz.Write(&b, named); err != nil {
		return err
	}
	return s.Write(file, b.Bytes())
}
