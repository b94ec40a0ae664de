package emit

import (
	_ "embed" // the Python texts
	"regexp"
	"strings"
)

//go:embed prelude.py
var prelude string

//go:embed main.py
var mainText string

// helper is a function of the prelude: files have those that they use.
type helper struct{ name, text string }

var helpers = func() []helper {
	var out []helper
	for text := range strings.SplitSeq("\n\n\n"+strings.TrimSpace(prelude), "\n\n\ndef ") {
		if name, _, ok := strings.Cut(text, "("); ok {
			out = append(out, helper{name, "def " + text + "\n"})
		}
	}
	return out
}()

var helperNames = func() map[string]bool {
	out := map[string]bool{}
	for _, h := range helpers {
		out[h.name] = true
	}
	return out
}()

var calledName = regexp.MustCompile(`\b([a-z_]+)\(`)

// use adds a helper to the file, and those that it calls. Other names are functions of JAX.
func (f *file) use(name string) {
	if !helperNames[name] || f.used[name] {
		return
	}
	f.used[name] = true
	if name == "decode" {
		f.decodes = true
	}
	for _, h := range helpers {
		if h.name == name {
			for _, m := range calledName.FindAllStringSubmatch(h.text, -1) {
				f.use(m[1])
			}
		}
	}
}
