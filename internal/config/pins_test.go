package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// A file of pins holds lists of texts, or of names with what they are to be; those of flags come behind.
func TestPins(t *testing.T) {
	read := func(file string, args ...string) (*Config, error) {
		t.Helper()
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		AddFlags(flags, "pin", "forbid", "budget", "pins")
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		return Load(flags)
	}
	files := map[string]string{
		"pins.yaml": "pin:\n  - w1=P('x')\n  - params['w.2']: P(None, 'y')\nforbid: [{embed: 'x,y'}]\nbudget: ['sent<=1GB']\n",
		"pins.toml": "pin = [\"w1=P('x')\", \"params['w.2']=P(None, 'y')\"]\nforbid = [\"embed: x,y\"]\nbudget = [\"sent<=1GB\"]\n",
		"bad.yaml":  "pin: [a=P()]\nbidget: [1]\n",
	}
	mustLoad(t, files) // in a folder of its own
	for _, file := range []string{"pins.yaml", "pins.toml"} {
		c, err := read(file, "--pins", file, "--pin", "w1=P()")
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"w1=P('x')", "params['w.2']=P(None, 'y')", "w1=P()"}; !slices.Equal(c.Pins, want) {
			t.Errorf("%s: pins are %q, want %q", file, c.Pins, want)
		}
		if len(c.Forbidden) != 1 || strings.ReplaceAll(c.Forbidden[0], " ", "") != "embed:x,y" {
			t.Errorf("%s: forbidden are %q", file, c.Forbidden)
		}
		if !slices.Equal(c.Budgets, []string{"sent<=1GB"}) {
			t.Errorf("%s: budgets are %q", file, c.Budgets)
		}
		if !c.Given("pins") || c.Given("forbid") {
			t.Errorf("%s: --pins is given, --forbid is not", file)
		}
	}
	if _, err := read("bad.yaml", "--pins", "bad.yaml"); err == nil || !strings.HasPrefix(err.Error(), "bad.yaml:2:") {
		t.Errorf("an unknown list: %v", err)
	}
	if _, err := read("gone.yaml", "--pins", "gone.yaml"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
}
