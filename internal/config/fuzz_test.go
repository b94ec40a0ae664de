package config

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/internal/diag"
)

// What reads as a mesh is one: named axes of positive size, no name twice; written again it reads the same.
func FuzzParseMesh(f *testing.F) {
	for _, seed := range []string{"data=4,model=2", "x=1", "x=0", "x=2,x=2", "=", ",", " a = 3 ", "x=99999999999999999999", "é=2", "a=b=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		axes, at, _, problem := parseMesh(text)
		if problem != "" {
			if at < 0 || at > len(text) {
				t.Errorf("%q: byte %d is outside", text, at)
			}
			return
		}
		var parts []string
		seen := map[string]bool{}
		for _, a := range axes {
			if a.Name == "" || a.Size < 1 || seen[a.Name] {
				t.Errorf("%q reads as %v", text, axes)
			}
			seen[a.Name] = true
			parts = append(parts, fmt.Sprintf("%s=%d", a.Name, a.Size))
		}
		again, _, _, problem := parseMesh(strings.Join(parts, ","))
		if problem != "" || fmt.Sprint(again) != fmt.Sprint(axes) {
			t.Errorf("%q reads as %v, that as %v, %s", text, axes, again, problem)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"16GiB", "80GB", "1.5 kB", "", "B", "-1", "1e309", "0x1p3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := diag.ParseSize(text); err == nil && n < 1 {
			t.Errorf("ParseSize(%q) = %d", text, n)
		}
	})
}
