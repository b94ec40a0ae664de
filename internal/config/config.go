package config

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// Config holds the values of all options; those that a command has no flag for come from the environment, the file or
// their defaults.
type Config struct {
	Mesh        []subaxis.Axis // nil: not given
	MeshDevices int64          // that a mesh is chosen for; 0: none is
	Hardware    cost.Hardware
	Memory      int64 // bytes; 0: not given
	MaxMemory   int64 // bytes of a virtual device; 0: not given
	CheckNaNs   bool
	Profile     string // file, "" for none
	Steps       int64
	Search      int64 // bytes that planning may hold
	Seed        uint64
	Without     rewrites.Set  // rewrites that are not made
	WholeAxes   bool          // no parts of axes
	Taste       float64       // part of a step that plainer plans may take more
	Trips       []Trip        // of loops that the data ends
	Pins        []string      // shardings of inputs and outputs, those of files first
	Forbidden   []string      // axes kept away from them
	Budgets     []string      // of bytes that collectives send
	Timeout     time.Duration // 0: none
	Format      Format
	Output      string // "" or "-": standard output
	Verify      bool
	Inputs      string
	Expect      string
	RTol        float64 // negative: not given
	ATol        float64
	Rules       []string
	Sizes       []string // of symbolic or dynamic dimensions
	Platform    string
	Disabled    []string // rules of check
	Limits      []string // that plans are held to
	Baseline    string   // file of findings that are known
	All         bool     // a report of every collective and value
	Trace       bool
	Priority    int // negative: all
	Backend     string
	Python      string
	Hosts       int
	Devices     string // "virtual" or "native"
	Progress    Progress
	Serve       Serve

	given map[string]bool // options that are not their defaults
}

// Given says whether an option is given, by its name in configuration files.
func (c *Config) Given(path string) bool { return c.given[path] }

// Trip says how often a loop is taken to run.
type Trip struct {
	Loop  string // 12 or train.py:40; "": all
	Count int64
}

// Serve holds the options of the service.
type Serve struct {
	Listen        string
	TokenFile     string
	TLSCert       string // files
	TLSKey        string
	DebugListen   string
	Jobs          string // file
	Cache         string // file
	CacheSize     int64  // bytes
	CacheAge      time.Duration
	MaxRequest    int64 // bytes
	MaxMemory     int64 // bytes
	MaxJobs       int
	MaxConcurrent int
	MaxWaiting    int
	MaxTime       time.Duration
	DrainTime     time.Duration
}

// Format is an output format.
type Format string

// The output formats.
const (
	Text Format = "text"
	JSON Format = "json"
	MLIR Format = "mlir"
	DOT  Format = "dot" // a graph, for Graphviz

	Bytecode  Format = "bytecode"   // of MLIR
	VHLO      Format = "vhlo"       // a portable artifact of StableHLO
	JAXExport Format = "jax-export" // for jax.export.deserialize

	Perfetto Format = "perfetto" // events on tracks, for ui.perfetto.dev

	ModelExplorer Format = "model-explorer" // values of the nodes of a model's graph

	Markdown Format = "markdown" // tables for a page of text

	SARIF  Format = "sarif"
	GitHub Format = "github"
)

// Progress says when to report progress.
type Progress string

// The choices for progress.
const (
	Auto   Progress = "auto" // where standard error is a terminal
	Always Progress = "always"
	Never  Progress = "never"
)

// Load returns the configuration. The flags are those of AddFlags, parsed. Errors are of class diag.ErrInvalid and
// say where the value came from.
func Load(flags *pflag.FlagSet) (*Config, error) {
	v := viper.New()
	v.SetEnvPrefix(envPrefix)
	v.SetEnvKeyReplacer(strings.NewReplacer(".", "_", "-", "_"))
	for i := range keys {
		def := keys[i].def
		if f := keys[i].in(flags); f != nil && !keys[i].list {
			def = f.DefValue // a command may have another
		}
		v.SetDefault(keys[i].path, def)
		if err := v.BindEnv(keys[i].path); err != nil {
			return nil, diag.Internal(diag.Bug, diag.Position{}, "bind option `%s`: %v", keys[i].path, err)
		}
		if f := keys[i].in(flags); f != nil {
			if err := v.BindPFlag(keys[i].path, f); err != nil {
				return nil, diag.Internal(diag.Bug, diag.Position{}, "bind option `%s`: %v", keys[i].path, err)
			}
		}
	}
	file, err := readFile(v, flags)
	if err != nil {
		return nil, err
	}
	l := &loader{v: v, flags: flags, file: file}
	c := l.load()
	return c, l.err
}

func (l *loader) load() *Config {
	c := &Config{
		Mesh:        l.mesh("mesh"),
		MeshDevices: l.integer("plan.devices", 0, maxAxisSize),
		Memory:      l.size("memory"),
		MaxMemory:   l.size("max-memory"),
		CheckNaNs:   l.boolean("check-nans"),
		Profile:     l.text("profile"),
		Steps:       l.integer("steps", 0, 1<<62),
		Search:      l.size("search-memory"),
		Seed:        l.unsigned("seed"),
		Without:     l.without(),
		WholeAxes:   l.boolean("no-sub-axes"),
		Taste:       l.number("taste") / 100,
		Trips:       l.trips("trip-count"),
		Pins:        l.list("pin"),
		Forbidden:   l.list("forbid"),
		Budgets:     l.list("budget"),
		Timeout:     l.duration("timeout"),
		Format:      Format(l.oneOf("format", formats(l.flags)...)),
		Output:      l.text("output"),
		Verify:      l.boolean("verify"),
		Inputs:      l.text("inputs"),
		Expect:      l.text("expect"),
		RTol:        l.optional(-1, "rtol", "tolerance"),
		ATol:        l.number("atol"),
		Rules:       l.list("rule"),
		Sizes:       l.list("dim"),
		Platform:    l.text("platform"),
		Disabled:    l.list("check.disable"),
		Limits:      l.list("check.limit"),
		Baseline:    l.v.GetString("check.baseline"),
		All:         l.boolean("all"),
		Trace:       l.boolean("trace"),
		Priority:    int(l.integer("priority", -1, 1<<31-1)),
		Backend:     l.oneOf("backend", "mesh", "jax"),
		Python:      l.text("python"),
		Hosts:       int(l.integer("hosts", 1, 1<<16)),
		Devices:     l.oneOf("devices", "virtual", "native"),
		Progress:    Progress(l.oneOf("progress", string(Auto), string(Always), string(Never))),
		Serve: Serve{
			Listen:        l.text("serve.listen"),
			TokenFile:     l.text("serve.token-file"),
			TLSCert:       l.text("serve.tls-cert"),
			TLSKey:        l.text("serve.tls-key"),
			DebugListen:   l.text("serve.debug-listen"),
			Jobs:          l.text("serve.jobs"),
			Cache:         l.text("serve.cache"),
			CacheSize:     l.size("serve.cache-size"),
			CacheAge:      l.duration("serve.cache-age"),
			MaxRequest:    l.size("serve.max-request"),
			MaxMemory:     l.size("serve.max-memory"),
			MaxJobs:       int(l.integer("serve.max-jobs", 1, 1<<20)),
			MaxConcurrent: int(l.integer("serve.max-concurrent", 1, 1<<20)),
			MaxWaiting:    int(l.integer("serve.max-waiting", 0, 1<<20)),
			MaxTime:       l.duration("serve.max-time"),
			DrainTime:     l.duration("serve.drain-time"),
		},
	}
	c.Hardware = l.on("topology", l.hardware("hardware"))
	l.steer(c, l.text("pins"))
	c.given = map[string]bool{}
	for i := range keys {
		c.given[keys[i].path] = l.origin(keys[i].path).given
	}
	return c
}

// getenv is os.LookupEnv without empty values, which viper ignores too.
func getenv(name string) (string, bool) {
	value := os.Getenv(name)
	return value, value != ""
}
