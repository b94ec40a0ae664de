package cost

import (
	"embed"
	"path"
	"strings"
	"sync"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// DefaultProfile is the hardware of those who name none.
const DefaultProfile = "tpu-v5e"

// builtIn are the profiles that come with the program, one file each, named like the hardware.
//
//go:embed hardware/*.yaml
var builtIn embed.FS

const builtInFolder, builtInExtension = "hardware", ".yaml"

// profileNames returns the names of the built-in profiles, sorted.
func profileNames() []string {
	files, err := builtIn.ReadDir(builtInFolder)
	if err != nil {
		panic(err) // the folder is in the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), builtInExtension))
	}
	return names
}

// loaded keeps the profiles that were read, by name. They are not changed any more.
var loaded sync.Map

// LookupProfile returns the built-in profile of that name, which callers must not change; case does not matter. The error for an unknown
// name is of class diag.ErrInvalid and suggests the nearest one.
func LookupProfile(name string) (*Profile, error) {
	file := path.Join(builtInFolder, strings.ToLower(name)+builtInExtension)
	if p, ok := loaded.Load(file); ok {
		return p.(*Profile), nil
	}
	text, err := builtIn.ReadFile(file)
	if err != nil {
		names := profileNames()
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "unknown hardware %q%s", clip(name), diag.DidYouMean(name, names)).
			WithNote(diag.Position{}, "known are `%s`", strings.Join(names, "`, `"))
	}
	p, err := ReadProfile(file, text)
	if err != nil {
		panic(err) // tests read all files
	}
	loaded.Store(file, p)
	return p, nil
}

// Lookup returns the hardware of the built-in profile of that name, as LookupProfile does. The value is the caller's own.
func Lookup(name string) (Hardware, error) {
	p, err := LookupProfile(name)
	if err != nil {
		return Hardware{}, err
	}
	return p.Hardware.clone(), nil
}

// Profiles returns all built-in profiles, sorted by name. They are shared: callers must not change them.
func Profiles() []*Profile {
	return lists.Map(profileNames(), func(name string) *Profile {
		p, err := LookupProfile(name)
		if err != nil {
			panic(err) // the name is that of a file
		}
		return p
	})
}

// OrDefault returns the hardware, or that of DefaultProfile in place of one without a name.
func (h Hardware) OrDefault() Hardware {
	if h.Name == "" {
		h, _ = Lookup(DefaultProfile) // which exists
	}
	return h
}

// clip bounds what an error quotes.
func clip(name string) string {
	const most = 40
	if len(name) > most {
		return name[:most] + "…"
	}
	return name
}
