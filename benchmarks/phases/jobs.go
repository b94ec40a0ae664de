package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// group is plans that show how time grows with one thing.
type group struct {
	name   string
	models []string
	meshes []string // sizes of axes, such as 16x8
}

var (
	small    = []string{"transformer_train"}
	scanned  = []string{"llama3_8b_train_scan", "mixtral_8x7b_train_scan"}
	unrolled = []string{"gpt2_small_train", "vit_large_train", "llama3_8b_train"}
)

// groups are the tables. A plan may be in several, and is made once.
var groups = []group{
	{"axes of the mesh", small, []string{"8", "4x2", "2x2x2", "2x2x2x2"}},
	{"axes of the mesh", scanned, []string{"16", "16x8", "16x8x4", "8x8x8", "4x4x4x2"}},
	{"axes of the mesh", unrolled, []string{"16", "16x8", "16x8x4", "4x4x4x2"}},
	{"devices", scanned[:1], []string{"2x2x2", "4x4x4", "8x8x8", "16x16x16"}},
	{"ops", slices.Concat(scanned, unrolled), []string{"16x8"}},
}

// meshes returns those that a model is planned on.
func meshes(model string) []string {
	var list []string
	for _, g := range groups {
		for _, mesh := range g.meshes {
			if slices.Contains(g.models, model) && !slices.Contains(list, mesh) {
				list = append(list, mesh)
			}
		}
	}
	return list
}

// axes writes a mesh as --mesh takes it.
func axes(mesh string) string {
	var list []string
	for i, size := range strings.Split(mesh, "x") {
		list = append(list, fmt.Sprintf("%c=%s", 'a'+i, size))
	}
	return strings.Join(list, ",")
}

// ceiling is what a plan may take on two cores; nil where nothing is promised.
type ceiling struct {
	wall   time.Duration
	memory int64
}

const gib = 1 << 30

// ceilings are those by how many axes a mesh has.
func ceilings(model, mesh string) *ceiling {
	n := strings.Count(mesh, "x") + 1
	switch {
	case slices.Contains(small, model) && n <= 2:
		return &ceiling{300 * time.Millisecond, gib}
	case slices.Contains(unrolled, model) && n <= 2:
		return &ceiling{2 * time.Second, gib + gib/2}
	case slices.Contains(unrolled, model) && n == 3:
		return &ceiling{5 * time.Second, gib + gib/2}
	case slices.Contains(unrolled, model):
		return nil
	case n <= 3:
		return &ceiling{2 * time.Second, gib}
	}
	return &ceiling{5 * time.Second, gib}
}
