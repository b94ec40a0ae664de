package main

import (
	"encoding/json"
	"os"
	"strings"

	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// record is what XLA made of a plan.
type record struct {
	Failed      string `json:"failed"`
	Skipped     string `json:"skipped"`
	Collectives []struct {
		Kind    string `json:"kind"`
		Group   int64  `json:"group"`
		Operand int64  `json:"operand_bytes"` // of one device
		Count   int64  `json:"count"`
	} `json:"collectives"`
}

// records are what XLA made of the plans, by model and plan.
type records map[string]map[string]record

func readRecords() (records, error) {
	files, err := site.Shared("models/xla_collectives.json")
	if err != nil {
		return nil, err
	}
	src, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	var out records
	return out, json.Unmarshal(src, &out)
}

// label is the name of a plan in the records; nil stands for the shardings in the model's own text.
func label(p *experts.Plan) string {
	if p == nil {
		return "as annotated"
	}
	return p.Name + " on " + strings.Join(lists.Map(p.Mesh, subaxis.Axis.String), " x ")
}

// traffic returns what one device sends.
func (r *record) traffic() traffic {
	var out traffic
	for _, c := range r.Collectives {
		kind := strings.ReplaceAll(c.Kind, "-", "_")
		out = append(out, flow{newWay(kind, c.Group), "", sent(kind, float64(c.Group), float64(c.Operand)) * float64(c.Count)})
	}
	return out
}

// sent returns the bytes that one device of a group of n sends on a ring, by those of its operand.
func sent(kind string, n, operand float64) float64 {
	switch kind {
	case "all_reduce":
		return 2 * operand * (n - 1) / n
	case "all_gather":
		return operand * (n - 1)
	case "reduce_scatter", "all_to_all", "ragged_all_to_all":
		return operand * (n - 1) / n
	}
	return operand
}
