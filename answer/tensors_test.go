package answer_test

import (
	"slices"
	"testing"

	"autoshard/answer"
	"autoshard/ir/modeljson"
	"autoshard/subaxis"
)

// Collectives whose groups run along no axes are shown with the devices of the first groups, by the numbers that the mesh gives them.
func TestFormatAmong(t *testing.T) {
	mesh := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}}, DeviceIDs: []int64{3, 2, 1, 0}}
	groups := answer.FormatGroups(&mesh, [][]int64{{0, 3}, {1}})
	for _, c := range []struct {
		axes, groups []string
		want         string
	}{
		{[]string{"x", "y"}, nil, "x,y"},
		{nil, groups, "{3,0} {2}"},
		{nil, slices.Repeat([]string{"0"}, 6), "{0} {0} {0} {0} and 2 more"},
	} {
		if got := answer.FormatAmong(c.axes, c.groups); got != c.want {
			t.Errorf("%v in %v: %q, want %q", c.axes, c.groups, got, c.want)
		}
	}
}

// Inputs whose leading dimension counts examples have the role that model.json has for them.
func TestIsBatch(t *testing.T) {
	for _, role := range append(modeljson.Roles(), "") {
		if got := (&answer.Tensor{Role: role}).IsBatch(); got != (role == "batch") {
			t.Errorf("an input with the role %q counts examples: %t", role, got)
		}
	}
}

// Roles whose names are abbreviations have words for people.
func TestRoleWord(t *testing.T) {
	for role, want := range map[string]string{"param": "parameters", "kv_cache": "KV cache", "batch": "batch", "": ""} {
		if got := answer.RoleWord(role); got != want {
			t.Errorf("people call %q %q, want %q", role, got, want)
		}
	}
}

// Roles have names for people, and what has none says whether a result takes its place.
func TestRoleName(t *testing.T) {
	for _, c := range []struct {
		role     string
		replaced bool
		want     string
	}{
		{"param", true, "parameters"}, {"opt_state", true, "optimizer state"}, {"kv_cache", true, "KV cache"},
		{"batch", false, "batch inputs"}, {"", true, "inputs that results replace"}, {"scalar", false, "other inputs"},
	} {
		if got := answer.RoleName(c.role, c.replaced); got != c.want {
			t.Errorf("%q is called %q, want %q", c.role, got, c.want)
		}
	}
}
