package jaxexport_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"autoshard/ir/jaxexport"
	"autoshard/ir/mlir"
	"autoshard/ir/mlirfile"
)

// exports returns the exports of the conformance folder, by the name of their files without extension.
func exports(t *testing.T) map[string][]byte {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the conformance artifacts")
	}
	files, err := filepath.Glob(filepath.Join(shared, "conformance", "bytecode", "*.jaxexport"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no exports: %v", err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		out[strings.TrimSuffix(file, ".jaxexport")] = read(t, file)
	}
	return out
}

func read(t testing.TB, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type object = map[string]any

// document returns an export as the expected JSON shows it.
func document(e *jaxexport.Exported) object {
	sum := sha256.Sum256(e.Module)
	out := object{"serialization_version": e.SerializationVersion, "function_name": e.FunctionName, "in_tree": tree(e.InTree),
		"out_tree": tree(e.OutTree), "in_avals": list(e.InAvals, aval), "out_avals": list(e.OutAvals, aval), "nr_devices": e.Devices,
		"in_shardings": list(e.InShardings, sharding), "out_shardings": list(e.OutShardings, sharding),
		"platforms":       list(e.Platforms, self[string]),
		"ordered_effects": list(e.OrderedEffects, effect), "unordered_effects": list(e.UnorderedEffects, effect),
		"disabled_checks": list(e.DisabledChecks, check), "module_bytes": len(e.Module), "module_sha256": hex.EncodeToString(sum[:]),
		"calling_convention_version": e.CallingConvention, "module_kept_var_idx": list(e.KeptInputs, self[uint16]),
		"uses_global_constants": e.UsesGlobalConstants, "unique_avals": list(e.UniqueAvals, aval),
		"unique_abstract_meshes": list(e.UniqueMeshes, func(m jaxexport.Mesh) any { return mesh(&m) }),
		"unique_named_shardings": list(e.UniqueShardings, func(s jaxexport.Sharding) any { return sharding(&s) }),
		"in_avals_idxs":          list(e.InAvalIDs, self[uint32]), "out_avals_idxs": list(e.OutAvalIDs, self[uint32]),
		"in_shardings_idxs": list(e.InShardingIDs, self[uint32]), "out_shardings_idxs": list(e.OutShardingIDs, self[uint32]),
		"jax_version": e.JAXVersion}
	if e.VJP != nil {
		out["vjp"] = document(e.VJP)
	}
	return out
}

func self[T any](v T) any { return v }

func list[T any](in []T, one func(T) any) []any {
	out := []any{}
	for _, v := range in {
		out = append(out, one(v))
	}
	return out
}

func tree(t *jaxexport.Tree) any {
	out := object{"kind": []string{"leaf", "none", "tuple", "list", "dict", "custom"}[t.Kind]}
	if len(t.Children) > 0 {
		out["children"] = list(t.Children, tree)
	}
	if len(t.Names) > 0 {
		out["names"] = list(t.Names, self[string])
	}
	if t.Kind == jaxexport.Custom {
		out["custom_name"], out["custom_auxdata"] = t.Custom, hex.EncodeToString(t.AuxData)
	}
	return out
}

func aval(a jaxexport.Aval) any {
	return object{"shape": list(a.Shape, self[string]), "dtype": jaxexport.DTypes[a.DType],
		"memory_space": []string{"missing", "device", "host", "any"}[a.MemorySpace]}
}

func sharding(s *jaxexport.Sharding) any {
	if s == nil {
		return nil
	}
	return object{"mesh": mesh(s.Mesh), "memory_kind": optional(s.MemoryKind), "abstract_mesh_idx": s.MeshID,
		"spec": object{"partitions": list(s.Spec.Partitions, func(p jaxexport.Partition) any { return list(p.Axes, self[string]) }),
			"reduced": list(s.Spec.Reduced, self[string]), "unreduced": list(s.Spec.Unreduced, self[string])}}
}

func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func mesh(m *jaxexport.Mesh) any {
	out := object{"axis_sizes": list(m.Sizes, self[uint32]), "axis_names": list(m.Names, self[string]),
		"axis_types":      list(m.Types, func(t uint8) any { return []string{"missing", "auto", "explicit", "manual"}[t] }),
		"abstract_device": nil}
	if d := m.Device; d != nil {
		out["abstract_device"] = object{"device_kind": d.Kind, "num_cores": d.Cores, "platform": d.Platform}
	}
	return out
}

func effect(e jaxexport.Effect) any { return e.Type }

func check(c jaxexport.DisabledCheck) any {
	return object{"kind": []string{"platform", "custom_call", "shape_assertions"}[c.Kind], "custom_call_target": optional(c.Target)}
}

func TestExportsHaveTheirFields(t *testing.T) {
	for name, data := range exports(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			e, err := jaxexport.Read(data, name)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(document(e))
			if err != nil {
				t.Fatal(err)
			}
			var got, want object
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(read(t, name+".json"), &want); err != nil {
				t.Fatal(err)
			}
			for field := range want {
				if !reflect.DeepEqual(got[field], want[field]) {
					t.Errorf("%s: got %v, want %v", field, got[field], want[field])
				}
			}
			if len(got) != len(want) {
				t.Errorf("got %d fields, want %d", len(got), len(want))
			}
		})
	}
}

func TestExportsMeanTheirText(t *testing.T) {
	for name, data := range exports(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			e, err := jaxexport.Read(data, name)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := mlirfile.Read(t.Context(), e.Module, name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := mlir.Parse(t.Context(), read(t, name+".mlir"), mlir.Options{File: name + ".mlir"})
			if err != nil {
				t.Fatal(err)
			}
			all := mlir.PrintOptions{DebugInfo: true}
			if got, want := string(mlir.Print(got, all)), string(mlir.Print(want, all)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
