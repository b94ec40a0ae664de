package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/subaxis"
)

// maxAxisSize bounds one axis; the façade bounds the whole mesh.
const maxAxisSize = math.MaxInt32

// parseMesh reads axes such as data=4,model=2. A problem comes with its code and its byte in the text.
func parseMesh(text string) (axes []subaxis.Axis, at int, code diag.Code, problem string) {
	for part := range strings.SplitSeq(text, ",") {
		name, size, found := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			return nil, at, diag.BadMesh, fmt.Sprintf("mesh axis %q must have the form name=size", part)
		}
		n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
		if err != nil {
			return nil, at + strings.IndexByte(part, '=') + 1, diag.BadMesh, fmt.Sprintf("size of mesh axis %q must be a whole number, not %q",
				name, size)
		}
		a := subaxis.Axis{Name: name, Size: n}
		if problem, code := checkAxis(axes, a); problem != "" {
			return nil, at, code, problem
		}
		axes = append(axes, a)
		at += len(part) + 1
	}
	return axes, 0, "", ""
}

// checkAxis says what is wrong with an axis that follows others, "" if nothing is.
func checkAxis(before []subaxis.Axis, a subaxis.Axis) (problem string, code diag.Code) {
	switch {
	case a.Name == "":
		return fmt.Sprintf("mesh axis %d has no name", len(before)), diag.BadMesh
	case a.Size < 1 || a.Size > maxAxisSize:
		return fmt.Sprintf("mesh axis %q has size %d, must be from 1 to %d", a.Name, a.Size, maxAxisSize), diag.BadMesh
	case slices.ContainsFunc(before, func(b subaxis.Axis) bool { return a.Name == b.Name }):
		return fmt.Sprintf("mesh axis %q is given twice", a.Name), diag.BadMesh
	}
	return "", ""
}
