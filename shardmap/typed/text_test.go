package typed_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"autoshard/internal/diag"
	"autoshard/shardmap/typed"
)

// roundTrip expects that the text of a typed program is read back as the same program, and that its types hold.
func roundTrip(t *testing.T, p *typed.Program) {
	t.Helper()
	roundTripOptions(t, p, typed.Options{})
}

func roundTripOptions(t *testing.T, p *typed.Program, opts typed.Options) {
	t.Helper()
	text := p.String()
	q, err := typed.Parse(text, "p.shard_map")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if again := q.String(); again != text {
		t.Fatalf("printed\n%s\nread and printed\n%s", text, again)
	}
	if err := q.Typecheck(opts); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"shard_map @f mesh=(i=2,) manual=(i,) check=true in_specs=(P('i'),) out_specs=(P(),)\nlambda x:f32[2]{i}\n  y:f32[2]{} = " +
			"psum[axes=(i,)] x\n  return y\n",
		"shard_map @f mesh=(i=2, j=1) in_specs=(P('i', None),) out_specs=(P('i'), P(('i', 'j'), unreduced={'j'}))\nlambda x:f32[2,3]\n  " +
			"return x x\n",
		"shard_map @f mesh=(i=2) in_specs=(P(),) out_specs=(P(),)\nlambda x:i32[3]\n  y:i32[] = constant[value=dense<1>]\n" +
			"  a:i32[] b:i32[3] = scan[carries=1, length=3, reverse=false] y x {\n  lambda c:i32[] d:i32[]\n    e:i32[] = add c d\n    return e " +
			"e\n  }\n  return b\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := typed.Parse(text, "")
		if err != nil {
			if errors.Is(err, diag.ErrInternal) {
				t.Fatal(err)
			}
			return
		}
		if _, err := p.Elaborate(typed.Options{}); err == nil {
			roundTrip(t, p)
		}
	})
}

// An error quotes a part of a long text.
func TestParseQuotesLittle(t *testing.T) {
	long := strings.Repeat("(", 1<<20)
	for _, text := range []string{
		"shard_map @e mesh=(i=4,) in_specs=(P(" + long + "),) out_specs=(P(),)\nlambda x:f32[2]\n  return x\n",
		"shard_map @e mesh=(i=4,) in_specs=(P(),) out_specs=(P(),)\nlambda x:f32[2]\n  y:f32[2] = add[a=" + long + "] x x\n  return x\n",
		"shard_map @e mesh=(i=4,) in_specs=(P(),) out_specs=(P(),)\nlambda x:" + strings.Repeat("é", 1<<20) + "\n  return x\n",
	} {
		if _, err := typed.Parse(text, ""); err == nil || len(err.Error()) > 1000 || !utf8.ValidString(err.Error()) {
			t.Errorf("the error is %.200v", err)
		}
	}
}
