package specfmt_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// The files under testdata/convert hold conversions:
//
//	convert from=partition-spec mesh=(x:2,y:4) [ids=(1,0,2,3,4,5,6,7)] [rank=2]
//	P('x', 'y')
//
// with the text in each form, or the error.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/convert", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "convert" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return convert(t, d)
		})
	})
}

func convert(t *testing.T, d *datadriven.TestData) string {
	var fromName string
	rank := specfmt.AnyRank
	d.ScanArgs(t, "from", &fromName)
	if d.HasArg("rank") {
		d.ScanArgs(t, "rank", &rank)
	}
	from, err := specfmt.ParseForm(fromName)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	var mesh *ir.MeshDecl
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "mesh":
			mesh = readMesh(t, arg.Vals)
		case "ids":
			for _, v := range arg.Vals {
				n, _ := strconv.ParseInt(v, 10, 64)
				mesh.DeviceIDs = append(mesh.DeviceIDs, n)
			}
		}
	}
	l, dropped, err := specfmt.Parse(from, mesh, rank, d.Input, diag.Position{Line: 1, Col: 1})
	if err != nil {
		return describe(err)
	}
	var out strings.Builder
	for _, n := range dropped {
		fmt.Fprintf(&out, "read: %s\n", n)
	}
	for f := specfmt.Sdy; f <= specfmt.GSPMD; f++ {
		text, dropped, err := specfmt.Format(f, &l)
		if err != nil {
			text = strings.TrimSuffix(describe(err), "\n")
		}
		fmt.Fprintf(&out, "%-15s %s\n", f, text)
		for _, n := range dropped {
			fmt.Fprintf(&out, "                - %s\n", n)
		}
	}
	return out.String()
}

func describe(err error) string {
	var out strings.Builder
	diag.Render(&out, err, nil)
	if errors.Is(err, diag.ErrUnsupported) {
		return "unsupported: " + out.String()
	}
	return out.String()
}

// readMesh reads axes such as x:2.
func readMesh(t *testing.T, axes []string) *ir.MeshDecl {
	mesh := &ir.MeshDecl{Name: "mesh"}
	for _, part := range axes {
		name, size, _ := strings.Cut(part, ":")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			t.Fatalf("axis %q: %v", part, err)
		}
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: name, Size: n})
	}
	return mesh
}
