package advice_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/shardmap/advice"
	"autoshard/shardmap/typed"
)

// The files of testdata hold programs, with what is said about each and what the first rewrite makes of it. Rewrite with:
// go test ./shardmap/advice -rewrite
func TestFind(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := typed.Parse(d.Input, "")
			if err == nil {
				_, err = p.Elaborate(typed.Options{})
			}
			if err != nil {
				return err.Error() + "\n"
			}
			before := p.String()
			found := advice.Find(p)
			if len(found) == 0 {
				return "nothing\n"
			}
			var b strings.Builder
			for _, a := range found {
				fmt.Fprintf(&b, "%s: %s\n", a.Rule, a.Message)
			}
			better, err := found[0].Apply()
			if err != nil {
				return b.String() + err.Error() + "\n"
			}
			if p.String() != before {
				t.Error("the program itself has changed")
			}
			if err := better.Typecheck(typed.Options{}); err != nil {
				t.Error(err)
			}
			return b.String() + better.String()
		})
	})
}
