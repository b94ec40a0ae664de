package config

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// file is a configuration file.
type file struct {
	name string
	text []byte
}

var candidates = []string{"autoshard.yaml", "autoshard.yml", "autoshard.toml", "autoshard.json"}

// readFile adds the configuration file to v, if there is one.
func readFile(v *viper.Viper, flags *pflag.FlagSet) (*file, error) {
	name, err := fileName(flags)
	if name == "" || err != nil {
		return nil, err
	}
	f, err := parseInto(v, name)
	if err != nil {
		return nil, err
	}
	return f, f.checkKeys(v)
}

func fileName(flags *pflag.FlagSet) (string, error) {
	if f := flags.Lookup("config"); f != nil && f.Changed {
		return f.Value.String(), nil
	}
	if name, ok := getenv(envPrefix + "_CONFIG"); ok {
		return name, nil
	}
	var found []string
	for _, name := range candidates {
		if _, err := os.Stat(name); err == nil {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", diag.Invalid(diag.BadFile, diag.Position{File: found[1]}, "`%s` is a configuration file too: name one with --config", found[0])
}

var fileTypes = []string{"yaml", "yml", "toml", "json"}

// parseInto reads a file whose extension says its syntax.
func parseInto(v *viper.Viper, name string) (*file, error) {
	pos := diag.Position{File: name}
	syntax := strings.TrimPrefix(filepath.Ext(name), ".")
	if !slices.Contains(fileTypes, syntax) {
		return nil, diag.Invalid(diag.BadFile, pos, "file must end in .yaml, .yml, .toml or .json")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, diag.Invalid(diag.BadFile, diag.Position{}, "%v", err)
	}
	f := &file{name, text}
	v.SetConfigType(syntax)
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		return nil, f.syntaxError(err)
	}
	return f, nil
}

var lineNumber = regexp.MustCompile(`line (\d+)`)

// syntaxError finds the line in the message of a YAML, TOML or JSON reader, where there is one.
func (f *file) syntaxError(err error) error {
	pos := diag.Position{File: f.name}
	if m := lineNumber.FindStringSubmatch(err.Error()); m != nil {
		pos.Line, _ = strconv.Atoi(m[1])
		pos.Col = 1
	}
	e := diag.Invalid(diag.BadFile, pos, "%v", err)
	e.Diagnostics[0].Source = diag.SourceLine(f.text, pos.Line)
	return e
}

// checkKeys reports all keys that are not options. Viper has lower-cased them.
func (f *file) checkKeys(v *viper.Viper) error {
	known := lists.Of(len(keys), func(i int) string { return keys[i].path })
	var found []diag.Diagnostic
	for _, path := range v.AllKeys() {
		if slices.Contains(known, path) {
			continue
		}
		pos, line := f.locate(path)
		found = append(found, diag.Diagnostic{Code: diag.BadOption, Pos: pos, Source: line,
			Message: fmt.Sprintf("unknown option %q%s", path, diag.DidYouMean(path, known))})
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b diag.Diagnostic) int {
		return cmp.Or(a.Pos.Line-b.Pos.Line, a.Pos.Col-b.Pos.Col, strings.Compare(a.Message, b.Message))
	})
	return &diag.Error{Class: diag.ErrInvalid, Diagnostics: found}
}

// locate returns the place of a key: the parts of its path one after the other, each as a word before a colon, equals
// sign or bracket.
func (f *file) locate(path string) (diag.Position, string) {
	at := 0
	for part := range strings.SplitSeq(path, ".") {
		word := regexp.MustCompile(`(?i)["']?\b` + regexp.QuoteMeta(part) + `\b["']?\s*[:=\].]`)
		m := word.FindIndex(f.text[at:])
		if m == nil {
			return diag.Position{File: f.name}, ""
		}
		at += m[0]
	}
	line := 1 + bytes.Count(f.text[:at], []byte("\n"))
	col := at - bytes.LastIndexByte(f.text[:at], '\n')
	return diag.Position{File: f.name, Line: line, Col: col}, diag.SourceLine(f.text, line)
}

// readHardware reads a hardware profile.
func readHardware(name string) (cost.Hardware, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return cost.Hardware{}, diag.Invalid(diag.BadFile, diag.Position{}, "%v", err)
	}
	p, err := cost.ReadProfile(name, text)
	if err != nil {
		return cost.Hardware{}, err
	}
	return p.Hardware, nil
}

// decodeStrictly fills a struct; fields that it does not have are errors.
func decodeStrictly(from, into any) error {
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: into, ErrorUnused: true})
	if err != nil {
		return err
	}
	return d.Decode(from)
}
