package mesh_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/mlir"
)

// selfChecks returns the self-checking programs by name, and the names of those whose expectations a peer confirmed.
func selfChecks(t *testing.T) (programs map[string][]byte, verified map[string]bool) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the conformance programs")
	}
	f, err := os.Open(filepath.Join(shared, "conformance", "stablehlo_dev.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	programs, verified = map[string][]byte{}, map[string]bool{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return programs, verified
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(h.Name)
		if base, ok := strings.CutSuffix(name, ".mlir"); ok {
			programs[base] = data
		}
		if name != "index.json" {
			continue
		}
		var index map[string]struct {
			VerifiedBy string `json:"verified_by"`
		}
		if err := json.Unmarshal(data, &index); err != nil {
			t.Fatal(err)
		}
		for name, entry := range index {
			verified[name] = entry.VerifiedBy != ""
		}
	}
}

// TestSelfChecks runs every self-checking program; all checks inside must hold.
func TestSelfChecks(t *testing.T) {
	programs, verified := selfChecks(t)
	passed := 0
	for name, src := range programs {
		t.Run(name, func(t *testing.T) {
			m, err := mlir.Parse(t.Context(), src, mlir.Options{File: name + ".mlir"})
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			main, _ := m.Main()
			_, _, err = mesh.Run(context.Background(), m, main, 1, [][]*tensor.Tensor{nil}, mesh.Options{})
			switch {
			case err == nil:
				passed++
			case !verified[name] && errors.Is(err, diag.ErrFinding):
				t.Skipf("no peer confirms what is expected: %v", err)
			default:
				t.Error(err)
			}
		})
	}
	t.Logf("%d of %d programs pass", passed, len(programs))
}
