package pyprint

import (
	"math"
	"testing"
)

func TestText(t *testing.T) {
	half, k := Value{0.5, "0.5"}, Value{int64(7), "7"}
	rows := Value{nil, "[[1. 2.]\n [3. 4.]]"}
	for _, c := range []struct {
		source string
		values []Value
		want   string // "" for none
	}{
		{`jax.debug.print("step {} has {x:.3f}", k, x=c.mean())`, []Value{k, half}, "step 7 has 0.500"},
		{`jax.debug.print("{b} before {a}", b=f(1, "),"), a=y[0, 1])`, []Value{half, k}, "7 before 0.5"},
		{"debug.print(\n    'two:\\n'  # lines\n    r\"{x}\\n\", x=y[:2],\n    ordered=True)", []Value{rows}, "two:\n[[1. 2.]\n [3. 4.]]\\n"},
		{`jax.debug.print("""{1}, {0}, {{}}""", a, b)`, []Value{k, half}, "0.5, 7, {}"},
		{`jax.debug.print("loss", x, y)`, []Value{half, k}, "loss 0.5 7"},
		{`jax.debug.print(fmt="{x}\x21\u00e9", x=1)`, []Value{k}, "7!é"},
		{`jax.debug.print("{x}", x={"a": 1, "b": 2})`, []Value{k, k}, ""}, // a tree
		{`jax.debug.print("{x} {name}", x=x, name="layer")`, []Value{k}, ""},
		{`jax.debug.print("{x.shape}", x=x)`, []Value{k}, ""},
		{`jax.debug.print("{x:.2f}", x=x)`, []Value{rows}, ""},
		{`jax.debug.print("{x!r}", x=x)`, []Value{k}, ""},
		{`jax.debug.print("{x", x=x)`, []Value{k}, ""},
		{`jax.debug.print(f"{x}")`, nil, ""},
		{`jax.debug.print(text, x=x)`, []Value{k}, ""},
		{`jax.debug.print("{}", *xs)`, []Value{k}, ""},
		{`jax.debug.print("{x}", x=x`, []Value{k}, ""},
		{`jax.debug.print("\N{BULLET}")`, nil, ""},
		{`jax.debug.callback(f, x)`, []Value{k}, ""},
		{`print("{x}", x=x)`, []Value{k}, ""},
	} {
		got, ok := "", false
		if call, found := Find("x = 1\n  "+c.source+"; y = 2", 2, 2); found {
			got, ok = call.Text(c.values)
		}
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s gives %q, %v", c.source, got, ok)
		}
	}
	for _, at := range [][2]int{{0, 0}, {1, 99}, {9, 0}, {1, -1}} {
		if _, ok := Find("jax.debug.print('')\n", at[0], at[1]); ok {
			t.Errorf("there is a call at %v", at)
		}
	}
}

// What Python 3.12 makes of the same.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    any
		spec string
		want string // "" where it is refused
	}{
		{0.1, "", "0.1"}, {float64(float32(0.1)), "", "0.10000000149011612"}, {3.0, "", "3.0"}, {1e16, "", "1e+16"}, {1e-5, "", "1e-05"},
		{-0.0001, "", "-0.0001"}, {123456789.0, "", "123456789.0"}, {math.Inf(-1), "", "-inf"},
		{math.NaN(), ".2f", "nan"}, {math.Inf(1), "F", "INF"},
		{3.14159, ".3f", "3.142"}, {3.14159, "8.2f", "    3.14"}, {3.14159, "<8.2f", "3.14    "}, {3.14159, "*^9.2f", "**3.14***"},
		{-3.5, "08.2f", "-0003.50"}, {3.5, "+.1f", "+3.5"}, {3.5, " .1f", " 3.5"}, {1234567.891, ",.2f", "1,234,567.89"}, {0.256, ".1%", "25.6%"},
		{12345.678, ".3e", "1.235e+04"}, {12345.678, ".3g", "1.23e+04"}, {100000.0, "g", "100000"}, {1e6, "g", "1e+06"}, {3.0, ".3", "3.0"},
		{3.14159, ".3", "3.14"}, {2.5, "E", "2.500000E+00"},
		{int64(42), "", "42"}, {int64(-42), "d", "-42"}, {int64(42), "05", "00042"}, {int64(255), "x", "ff"}, {int64(255), "#X", "0XFF"},
		{int64(5), "b", "101"}, {int64(1234567), ",", "1,234,567"}, {int64(1234567), "_d", "1_234_567"}, {int64(3), ".1f", "3.0"},
		{uint64(1 << 63), "", "9223372036854775808"},
		{int64(3), ".1", ""}, {3.5, "d", ""}, {3.5, "x", ""}, {3.5, "q", ""}, {true, "", "True"}, {true, ">6", ""}, {int64(3), "99999", ""},
	} {
		got, ok := format(c.v, c.spec)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("format(%v, %q) is %q, %v, not %q", c.v, c.spec, got, ok, c.want)
		}
	}
}
