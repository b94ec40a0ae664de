package jax

import (
	"bytes"
	"embed"
	"strings"
	"text/template"

	"autoshard/internal/diag"
)

// Launch says how an emitted program starts on several hosts.
type Launch struct {
	Name    string // of the job
	Program string // name of the Python file
	Hosts   int    // one process on each
	Devices int    // of all hosts together; a multiple of Hosts
}

// launchers are the forms that Launcher writes, by name; each is a template in the folder launcher.
var launchers = []string{"shell", "slurm", "kubernetes"}

// Launchers returns the names of the forms that Launcher writes.
func Launchers() []string { return append([]string(nil), launchers...) }

//go:embed launcher
var templates embed.FS

// Launcher returns the text that starts a program on several hosts: a script to run on every host ("shell"), a batch
// script ("slurm"), or a Job with the Service that gives its processes names ("kubernetes"). Process 0 is on the first
// host, whose address the others get. Errors are of class diag.ErrInvalid.
func Launcher(form string, l Launch) ([]byte, error) {
	t, err := template.ParseFS(templates, "launcher/"+form)
	switch {
	case err != nil:
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "unknown launcher %q: launchers are %s", form, strings.Join(launchers, ", "))
	case l.Hosts < 1 || l.Devices < 1 || l.Devices%l.Hosts != 0:
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "%d devices cannot be shared equally by %d hosts", l.Devices, l.Hosts)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"Name": label(l.Name), "Program": fileName(l.Program), "Hosts": l.Hosts,
		"Devices": l.Devices / l.Hosts})
	if err != nil {
		return nil, diag.Internal(diag.Bug, diag.Position{}, "launcher `%s`: %v", form, err)
	}
	return b.Bytes(), nil
}

// label returns a name that jobs and hosts can have: small letters, digits and dashes, at most 40, from a letter on.
func label(name string) string {
	name = keep(strings.ToLower(name), '-', "")
	name = strings.Trim(name[:min(len(name), 40)], "-0123456789")
	if name == "" {
		return "program"
	}
	return name
}

// fileName returns a name of a file that needs no quotes in a shell or YAML.
func fileName(name string) string {
	return strings.TrimLeft(keep(name, '_', "._-/"), "-")
}

// keep replaces all but ASCII letters, digits and some other characters.
func keep(text string, by rune, others string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(others, r) {
			return r
		}
		return by
	}, text)
}
