package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"autoshard/cost"
	"autoshard/internal/lists"
)

// key is one option. Its name in files and, in upper case with AUTOSHARD_ before it, in the environment is path; its
// flag is the last part of path.
type key struct {
	path      string
	shorthand string
	def       string
	help      string
	boolean   bool
	optional  string // value of the flag given without one
	list      bool   // the flag may be repeated; files have a list, the environment a value with line ends
}

func (k *key) flag() string { return k.path[strings.LastIndexByte(k.path, '.')+1:] }

// in returns the flag of the option, nil where the command has none: options of two commands may have flags of one name, which say whose
// they are.
func (k *key) in(flags *pflag.FlagSet) *pflag.Flag {
	f := flags.Lookup(k.flag())
	if f == nil {
		return nil
	}
	if paths, said := f.Annotations[pathAnnotation]; said && !slices.Contains(paths, k.path) {
		return nil
	}
	return f
}

// pathAnnotation holds the path of the option that a flag is for.
const pathAnnotation = "path"

// variable returns the environment variable of the option.
func (k *key) variable() string {
	return envPrefix + "_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.path))
}

const envPrefix = "AUTOSHARD"

var keys = []key{
	{path: "mesh", help: "mesh axes from major to minor, such as data=4,model=2 (default: the mesh that the model declares)"},
	{path: "plan.devices", def: "0", help: "number of devices, such as 64: the mesh is chosen, one of up to three axes on which a step is " +
		"fastest; 0: the mesh is that of --mesh or the model"},
	{path: "hardware", def: cost.DefaultProfile, help: "name of a hardware profile, or a file with one"},
	{path: "topology", help: "part of the hardware's network that the mesh runs on: the shape of a slice of a torus, such as 4x8 or " +
		"4x8:line,ring, or children of levels of switches, such as node=4 (default: chosen by the size of the mesh)"},
	{path: "memory", help: "bytes per device, such as 16GiB or 80GB (default: the hardware's memory)"},
	{path: "steps", def: "0", help: "step budget of building the space and searching it, " +
		"which finding a first plan that fits may exceed; 0: a few seconds for each search"},
	{path: "search-memory", def: "2GiB", help: "bytes that planning may hold itself, such as 512MiB: what would take more is left out"},
	{path: "seed", def: "0", help: "seed of the search and of random inputs"},
	{path: "collective-matmul", def: "auto",
		help: "products overlapped with the collectives beside them as rings of permutes: auto, where that is faster, or off"},
	{path: "merge-collectives", def: "auto",
		help: "collectives of one kind over the same axes sent as one where none needs another: auto, where that is faster, or off"},
	{path: "without", help: "rewrites of the program that are not made, by name, such as hoist-reshards,merge-collectives"},
	{path: "taste", def: "0.1", help: "percent of a step that a plan may take more whose inputs are cut more plainly: those of a batch " +
		"alike, equal layers alike, few and whole axes to a dimension; 0: cost alone counts"},
	{path: "no-sub-axes", boolean: true, def: "false", help: "cut dimensions along whole mesh axes only, but for what the model says"},
	{path: "pin", list: true,
		help: "sharding of inputs and outputs, such as w1=P(None, 'model'); a star in the name stands for any characters; may be repeated"},
	{path: "forbid", list: true, help: "axes that may not cut inputs and outputs, such as 'embed: data'; may be repeated"},
	{path: "budget", list: true, help: "most bytes that a step's collectives may send, such as 'all_gather<=64MiB', " +
		"'all_reduce: data<=1GiB' over some axes, or 'sent<=100MB/device' for all kinds; may be repeated"},
	{path: "pins", help: "file with lists of more `pin`, `forbid` and `budget`, in YAML, JSON or TOML"},
	{path: "trip-count", list: true,
		help: "iterations that a loop is priced for where the data ends it: N for all such loops, LINE=N or train.py:40=N for one; may be " +
			"repeated"},
	{path: "timeout", def: "0s", help: "end the search or the run after this time, such as 30s, from the start of the command; 0s: never"},
	{path: "format", def: "text", help: "output format: text, json or mlir"},
	{path: "output", shorthand: "o", help: "file to write; its extension decides the format where --format does not"},
	{path: "verify", boolean: true, def: "false", help: "run the plan on virtual devices and compare the outputs"},
	{path: "inputs", help: "input arrays, named arg0, arg1, … or as the inputs are: .npz, .npy, safetensors, or a directory of them"},
	{path: "expect", help: "expected outputs, named out0, out1, …, in the same formats"},
	{path: "rtol", help: "difference from expected outputs allowed relative to each element, beside that of rounding (default: that of " +
		"manifest.json beside the model, or 1e-4)"},
	{path: "atol", def: "0", help: "difference from expected outputs allowed of every element"},
	{path: "tolerance", help: "the same as rtol, which counts where both are given"},
	{path: "max-memory", help: "most bytes of values that a virtual device may hold, such as 512MiB (default: 16GiB)"},
	{path: "check-nans", boolean: true, def: "false", help: "end the run at the first operation that makes elements that are NaN of others"},
	{path: "profile", help: "file for what every device does, waits for and holds, which Perfetto shows; packed if it ends in .gz"},
	{path: "rule", list: true, help: "sharding rule of custom operations, such as 'my_op: (b i, i j) -> (b j) reduction={i}'; may be " +
		"repeated"},
	{path: "dim", list: true, help: "size of a symbolic or dynamic dimension, such as b=64, b=64,n=128 or arg0[1]=64; may be repeated"},
	{path: "platform", help: "platform of a model that is exported for several: a name, or its place among them from 0 (default: the first " +
		"that needs no other hardware)"},
	{path: "all", boolean: true, def: "false", help: "report every collective and value, not only the largest"},
	{path: "trace", boolean: true, def: "false", help: "show how propagation went"},
	{path: "priority", def: "-1", help: "stop after the round of this user priority, and with --trace show only that round; -1: all"},
	{path: "backend", def: "mesh", help: "what runs the plan: mesh, virtual devices in this process, or jax, real JAX"},
	{path: "python", def: "python3", help: "Python with JAX that runs the plan with --backend jax"},
	{path: "hosts", def: "1", help: "hosts that share the devices: with run --backend jax as many processes, with emit --launcher those to " +
		"start on"},
	{path: "devices", def: "virtual", help: "devices with --backend jax: virtual, CPU devices, or native, those that JAX finds"},
	{path: "progress", def: "auto", optional: "always", help: "report progress on standard error: auto (on a terminal), always or never"},
	{path: "check.disable", list: true, help: "name of a rule that does not run; may be repeated"},
	{path: "check.limit", list: true, help: "what a plan may have at most, such as 'no-gather > 64MiB', no-implicit-replicate, " +
		"'peak < 14GiB', axis-unused, 'uneven-waste > 5 %' or batch-inputs-disagree; may be repeated"},
	{path: "check.baseline", help: "file of findings that are known and left out, as --write-baseline writes it"},
	{path: "serve.listen", def: "127.0.0.1:8080", help: "address to listen on, or unix:PATH; port 0 takes a free one"},
	{path: "serve.token-file", help: "file with the tokens that requests need: a line has a name, a secret and, if there is a quota, " +
		"requests a minute (default: anybody may ask)"},
	{path: "serve.tls-cert", help: "file with the server's certificate, in PEM (default: connections are not encrypted)"},
	{path: "serve.tls-key", help: "file with the key of the certificate, in PEM"},
	{path: "serve.debug-listen", help: "address for /metrics, which Prometheus reads, and /debug/pprof (default: none)"},
	{path: "serve.jobs", help: "file where jobs are kept, which is made if there is none (default: the server keeps no jobs)"},
	{path: "serve.cache", help: "file where plans are kept for requests that are sent again, which is made if there is none (default: none)"},
	{path: "serve.cache-size", def: "1GiB", help: "most bytes of plans that are kept; the oldest make room"},
	{path: "serve.cache-age", def: "720h", help: "time after which plans that are kept are forgotten"},
	{path: "serve.max-request", def: "64MiB", help: "largest request"},
	{path: "serve.max-memory", def: "4GiB", help: "most bytes of values that a run of a program may hold, of all virtual devices together"},
	{path: "serve.max-concurrent", def: "2", help: "requests that are worked on at a time"},
	{path: "serve.max-waiting", def: "64", help: "requests that wait for their turn; more are refused"},
	{path: "serve.max-jobs", def: "1000", help: "jobs that have not ended; more are refused"},
	{path: "serve.max-time", def: "5m", help: "longest time of work on a request, and of waiting for it"},
	{path: "serve.drain-time", def: "30s", help: "time that requests have to finish after SIGTERM"},
}

// AddFlags adds the flags of the named options, and --config.
func AddFlags(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		k := find(name)
		switch {
		case k.boolean:
			flags.BoolP(k.flag(), k.shorthand, k.def == "true", k.help)
		case k.list:
			flags.StringArrayP(k.flag(), k.shorthand, nil, k.help)
		default:
			flags.StringP(k.flag(), k.shorthand, k.def, k.help)
		}
		f := flags.Lookup(k.flag())
		f.Annotations = map[string][]string{pathAnnotation: {k.path}}
		if k.optional != "" {
			f.NoOptDefVal = k.optional
		}
	}
	flags.String("config", "", "configuration file (default: autoshard.yaml, .yml, .toml or .json in the working directory)")
}

// formatsAnnotation holds the formats of a command that has others than most.
const formatsAnnotation = "formats"

// AllowFormats says which formats the command of the flags has, if not text, json and mlir.
func AllowFormats(flags *pflag.FlagSet, list ...Format) {
	names := lists.Map(list, func(f Format) string { return string(f) })
	f := flags.Lookup("format")
	f.Usage = "output format: " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[formatsAnnotation] = names
}

// formats returns the formats that the command of the flags has.
func formats(flags *pflag.FlagSet) []string {
	if f := flags.Lookup("format"); f != nil && f.Annotations[formatsAnnotation] != nil {
		return f.Annotations[formatsAnnotation]
	}
	return []string{string(Text), string(JSON), string(MLIR)}
}

func find(path string) *key {
	i := slices.IndexFunc(keys, func(k key) bool { return k.path == path })
	if i < 0 {
		panic("config: no option " + path)
	}
	return &keys[i]
}
