package typed_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// Probes stand beside what they look at, and name it as the text does; without them the program is that of Lower.
func TestLowerProbed(t *testing.T) {
	p, err := typed.Parse(`shard_map @f mesh=(i=2,) in_specs=(P('i'),) out_specs=(P(),)
lambda x:f32[2]
  y:f32[2] = negate x
  s:f32[2] = psum[axes=(i,)] y
  return s
`, "")
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{
		"":    "negate, before y of psum[axes=(i,)], all_reduce, after s of psum[axes=(i,)], return",
		"x,s": "made x of , negate, all_reduce, made s of , return",
	} {
		device, probes, err := p.LowerProbed(strings.FieldsFunc(names, func(r rune) bool { return r == ',' }))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for op := range device.Module.Ops(device.Module.Func(device.Main).Body) {
			text := strings.TrimPrefix(device.Module.OpName(op), "stablehlo.")
			if k, ok := typed.ProbeOf(device.Module, op); ok {
				text = fmt.Sprintf("%s %s of %s", probes[k].Moment, probes[k].Values[0], probes[k].Op)
			}
			got = append(got, strings.TrimPrefix(text, "func."))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("with probes of %q the program is %s", names, strings.Join(got, ", "))
		}
	}
	device := p.Lower()
	device.Module.Walk(device.Module.Func(device.Main).Body, func(op ir.OpID) {
		if _, ok := typed.ProbeOf(device.Module, op); ok {
			t.Error("the program of Lower has a probe")
		}
	})
}
