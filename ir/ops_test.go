package ir

import "testing"

// Every kind has a row, with a name of its own that says its dialect, and what it declares is in the order of the names, which
// is the order of bytecode. No text has the ops of shard_map programs.
func TestOpTable(t *testing.T) {
	for k := OpUnregistered + 1; k < NumKinds; k++ {
		if same, ok := ParseKind(k.String()); ok == k.IsShardMap() || same != k || k.Dialect() == "" {
			t.Errorf("kind %d: %q of dialect %q is parsed as %d", k, k, k.Dialect(), same)
		}
		declared := k.Declared()
		for i, d := range declared {
			if i > 0 && declared[i-1].Name >= d.Name {
				t.Errorf("%s: %s stands behind %s", k, d.Name, declared[i-1].Name)
			}
		}
	}
}

// Constants are told from other ops that read nothing.
func TestIsConstant(t *testing.T) {
	for k, want := range map[Kind]bool{OpConstant: true, OpSdyConstant: true, OpIota: false, OpPartitionId: false} {
		if k.IsConstant() != want {
			t.Errorf("%v is a constant: %v", k, !want)
		}
	}
}

// Functions that libraries approximate are told from ops whose results follow from rounding once.
func TestTranscendental(t *testing.T) {
	for _, k := range []Kind{OpTanh, OpExponential, OpAtan2, OpChloErf, OpChloZeta} {
		if !k.IsTranscendental() {
			t.Errorf("%v is said to be exact", k)
		}
	}
	for _, k := range []Kind{OpAdd, OpSqrt, OpPower, OpConvert, OpNegate, OpDotGeneral} {
		if k.IsTranscendental() {
			t.Errorf("%v is said to be transcendental", k)
		}
	}
}
