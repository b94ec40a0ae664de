package config

import (
	"errors"
	"os"
	"strings"

	"autoshard/cost/datasheet"
	"autoshard/internal/diag"
)

// steer puts what a file pins and forbids before what the other options do: of two pins for one value the last counts.
func (l *loader) steer(c *Config, file string) {
	if file == "" {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		l.fail("pins", 0, diag.BadFile, "%v", errors.Unwrap(err))
		return
	}
	sheet, err := datasheet.Read(file, text)
	if err != nil && l.err == nil {
		l.err = err
	}
	if err != nil {
		return
	}
	var pins, forbidden, budgets []string
	for _, v := range sheet.Values {
		list, name := entry(v.Path)
		switch list {
		case "pin":
			pins = append(pins, joined(name, "=", v.Text))
		case "forbid":
			forbidden = append(forbidden, joined(name, ": ", v.Text))
		case "budget":
			budgets = append(budgets, joined(name, "<=", v.Text))
		default:
			if l.err == nil {
				l.err = sheet.Fail(v, "unknown entry %q: the file has the lists `pin`, `forbid` and `budget`", v.Path)
			}
		}
	}
	c.Pins, c.Forbidden, c.Budgets = append(pins, c.Pins...), append(forbidden, c.Forbidden...), append(budgets, c.Budgets...)
}

// entry cuts a path such as pin[0], or pin[0].w1 where an entry is a name and a value, into the names of the list and of the value.
func entry(path string) (list, name string) {
	list, rest, found := strings.Cut(path, "[")
	if !found {
		return "", ""
	}
	_, name, _ = strings.Cut(rest, "]")
	return list, strings.TrimPrefix(name, ".")
}

// joined returns an entry as the option has it.
func joined(name, separator, text string) string {
	if name == "" {
		return text
	}
	return name + separator + text
}
