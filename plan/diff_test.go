package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/plan"
)

// A plan equals itself; with less memory it is another one, and each of what differs is found on its side.
func TestDiff(t *testing.T) {
	a, b := examplePlan(t, "mlp_train", 100_000), examplePlan(t, "mlp_train", 50_000)
	if d := plan.Diff(a, a); !d.Same || len(d.Asked)+len(d.Traffic)+len(d.Values) > 0 || d.Program {
		t.Errorf("a plan differs from itself: %+v", d)
	}
	d, back := plan.Diff(a, b), plan.Diff(b, a)
	if d.Same || !d.Program {
		t.Errorf("two plans are the same: %+v", d)
	}
	if want := []plan.Change{{Name: "memory", Before: "97.7 KiB", After: "48.8 KiB"}}; cmp.Diff(want, d.Asked) != "" {
		t.Errorf("they were asked for %+v", d.Asked)
	}
	if f := d.Figures[3]; f.Name != "peakBytes" || int64(f.Before) != a.Estimate.PeakBytes || int64(f.After) != b.Estimate.PeakBytes {
		t.Errorf("memory is %+v", f)
	}
	var sent int64
	for _, p := range d.Traffic {
		sent += p.After.Bytes - p.Before.Bytes
	}
	if sent != b.Estimate.SentBytes-a.Estimate.SentBytes {
		t.Errorf("collectives send %d more, the plan %d", sent, b.Estimate.SentBytes-a.Estimate.SentBytes)
	}
	for i, v := range d.Values {
		if v.Before.Spec == v.After.Spec || v.Before.Name != v.After.Name || back.Values[i].Before != v.After {
			t.Errorf("%s differs from %s", v.Before.Spec, v.After.Spec)
		}
	}
}

// Values that one of the plans does not have stand alone.
func TestDiffOfTwoModels(t *testing.T) {
	d := plan.Diff(recordedPlan(t), examplePlan(t, "mlp_train", 50_000))
	alone := map[bool]int{}
	for _, v := range d.Values {
		if v.Before == nil || v.After == nil {
			alone[v.Before != nil]++
		}
	}
	if alone[true] != 1 || alone[false] != 13 { // arg0 and arg1 are in both, out0 in the first
		t.Errorf("%d values are in the first plan alone, %d in the second", alone[true], alone[false])
	}
}
