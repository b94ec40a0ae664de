package pass

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/lists"
)

// OptionKind is the type of an option.
type OptionKind uint8

// The types of options.
const (
	BoolOption OptionKind = iota // true or false; the name alone means true
	IntOption                    // a whole number
	EnumOption                   // one of several words
	ListOption                   // any of several words: a,b or {a,b}
)

// String returns what a value is called in texts.
func (k OptionKind) String() string { return [...]string{"bool", "int", "enum", "list"}[k] }

// Option is a typed option of a pass. Make it with Bool, Int, Enum or List.
type Option struct {
	Name    string
	Help    string // what it means, without a full stop
	Kind    OptionKind
	Default string   // as it is written in a pipeline
	Words   []string // of an enum or list
}

// Bool returns an option that is true or false.
func Bool(name string, missing bool, help string) Option {
	return Option{Name: name, Help: help, Kind: BoolOption, Default: strconv.FormatBool(missing)}
}

// Int returns an option that is a whole number.
func Int(name string, missing int64, help string) Option {
	return Option{Name: name, Help: help, Kind: IntOption, Default: strconv.FormatInt(missing, 10)}
}

// Enum returns an option that is one of several words; the first one is the default.
func Enum(name, help string, words ...string) Option {
	return Option{Name: name, Help: help, Kind: EnumOption, Default: words[0], Words: words}
}

// List returns an option that holds any of several words; none is the default.
func List(name, help string, words ...string) Option {
	return Option{Name: name, Help: help, Kind: ListOption, Words: words}
}

// Values returns the values that the option can have, for people; the default comes first.
func (o *Option) Values() string {
	switch o.Kind {
	case BoolOption:
		return o.Default + "|" + strconv.FormatBool(o.Default == "false")
	case IntOption:
		return o.Default + "|..."
	case EnumOption:
		return strings.Join(o.Words, "|")
	}
	return strings.Join(o.Words, ",")
}

// read returns the value of a text: a bool, an int64, a string or a []string. The error says what is wrong with the
// text and nothing else.
func (o *Option) read(text string) (any, error) {
	switch o.Kind {
	case BoolOption:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("must be `true` or `false`")
		}
		return text == "true", nil
	case IntOption:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("must be a whole number of at most 64 bits")
		}
		return n, nil
	case EnumOption:
		return text, o.check(text)
	}
	return o.readList(text)
}

func (o *Option) readList(text string) (any, error) {
	inner, braced := strings.CutPrefix(text, "{")
	if braced {
		inner = strings.TrimSuffix(inner, "}")
	}
	var list []string
	for word := range strings.SplitSeq(inner, ",") {
		word = strings.TrimSpace(word)
		if word == "" && strings.TrimSpace(inner) == "" {
			break
		}
		if err := o.check(word); err != nil {
			return nil, err
		}
		list = append(list, word)
	}
	return list, nil
}

// check says whether a word is one of the option's.
func (o *Option) check(word string) error {
	if slices.Contains(o.Words, word) {
		return nil
	}
	return fmt.Errorf("must be %s%s", strings.Join(quoted(o.Words), " or "), didYouMean(word, o.Words))
}

func quoted(words []string) []string {
	return lists.Map(words, func(w string) string { return "`" + w + "`" })
}

// Settings are the values of a pass's options. Asking for an option that the pass does not have, or as another type,
// is a programmer's mistake and panics.
type Settings struct {
	options []Option
	values  []any // by option; nil stands for the default
}

// DefaultSettings returns the settings of a pass that a pipeline names without options.
func (p *Pass) DefaultSettings() Settings {
	return Settings{options: p.Options, values: make([]any, len(p.Options))}
}

func (s Settings) get(name string) any {
	for i := range s.options {
		o := &s.options[i]
		if o.Name != name {
			continue
		}
		if s.values[i] != nil {
			return s.values[i]
		}
		value, err := o.read(o.Default)
		if err != nil {
			panic(fmt.Sprintf("pass: default of option %q: %v", name, err))
		}
		return value
	}
	panic(fmt.Sprintf("pass: no option %q", name))
}

// Has says whether the pass has an option, for functions that several passes share.
func (s Settings) Has(name string) bool {
	return slices.ContainsFunc(s.options, func(o Option) bool { return o.Name == name })
}

// Bool returns the value of a Bool option.
func (s Settings) Bool(name string) bool { return s.get(name).(bool) }

// Int returns the value of an Int option.
func (s Settings) Int(name string) int64 { return s.get(name).(int64) }

// Enum returns the value of an Enum option.
func (s Settings) Enum(name string) string { return s.get(name).(string) }

// List returns the value of a List option.
func (s Settings) List(name string) []string { return s.get(name).([]string) }

// String returns the options that differ from their defaults as a pipeline writes them, {a=b c=d}, or "".
func (s Settings) String() string {
	var parts []string
	for i := range s.options {
		o := &s.options[i]
		if s.values[i] == nil {
			continue
		}
		if text := format(s.values[i]); text != o.Default {
			parts = append(parts, o.Name+"="+text)
		}
	}
	if parts == nil {
		return ""
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func format(value any) string {
	if list, ok := value.([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(value)
}
