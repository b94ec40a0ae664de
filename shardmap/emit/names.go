package emit

import (
	"regexp"
	"strconv"
	"strings"

	"autoshard/ir"
)

// reserved are the names that a value must not take: Python's keywords and builtins that the text uses, and the
// modules and functions of the file.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`
		False None True and as assert async await break class continue def del elif else except finally for from global
		if import in is lambda match nonlocal not or pass raise return try type while with yield case
		abs all any ascii bin bool bytes callable chr complex dict dir enumerate eval exec filter float format
		frozenset getattr globals hasattr hash help hex id input int isinstance iter len list locals map max min
		next object oct open ord pow print property range repr reversed round set slice sorted staticmethod str sum
		super tuple vars zip
		argparse base64 jax jnp lax multihost_utils np os sys AxisType Mesh NamedSharding P
		DEVICES DONATED INPUTS IN_SPECS OUTPUTS OUT_SPECS STORED arguments check compare example expected gather inputs
		magnitudes main make_mesh
		per_device read run save sharded start tolerance unsharded`) {
		names[name] = true
	}
	return names
}()

// scope gives out names, each once.
type scope struct {
	used map[string]bool
	next map[string]int // of each base: the number to try
}

func newScope(outer ...*scope) *scope {
	s := &scope{used: map[string]bool{}, next: map[string]int{}}
	for _, o := range outer {
		for name := range o.used {
			s.used[name] = true
		}
	}
	return s
}

// take returns base, or base with the least number that makes it new.
func (s *scope) take(base string) string {
	name := base
	for n := s.next[base]; s.used[name] || reserved[name] || helperNames[name]; {
		n++
		s.next[base] = n
		name = base + "_" + strconv.Itoa(n)
	}
	s.used[name] = true
	return name
}

// gaps are what no identifier has, with one underscore before it.
var gaps = regexp.MustCompile(`_?\W+`)

// identifier makes a Python identifier of any text: params['w'] becomes params_w. The fallback stands for a text
// without letters.
func identifier(text, fallback string) string {
	name := strings.Trim(gaps.ReplaceAllString(text, "_"), "_")
	if name == "" {
		return fallback
	}
	if name[0] >= '0' && name[0] <= '9' {
		name = fallback + "_" + name
	}
	const longest = 40
	if len(name) > longest {
		name = strings.TrimLeft(name[len(name)-longest:], "_0123456789")
		if name == "" {
			return fallback
		}
	}
	return name
}

// quoted returns a Python string in double quotes.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\x` + strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// baseName returns the name that results of an op get, before a number makes it new: the name of the innermost named
// location, or that of the op.
func (e *emitter) baseName(op ir.OpID) string {
	kind := e.m.OpName(op)
	if named := shortNames[e.m.Kind(op)]; named != "" {
		return named
	}
	return identifier(kind[strings.IndexByte(kind, '.')+1:], "value")
}

func (e *emitter) firstResult(op ir.OpID) ir.ValueID {
	if e.m.NumResults(op) == 0 {
		return 0
	}
	return e.m.Result(op, 0)
}

// shortNames are the names of values where the op's own name is long or means something in Python.
var shortNames = map[ir.Kind]string{
	ir.OpDotGeneral: "dot", ir.OpBroadcastInDim: "spread", ir.OpBroadcast: "spread", ir.OpExponential: "exp",
	ir.OpLogistic: "sigmoid", ir.OpSubtract: "diff", ir.OpMultiply: "prod", ir.OpDivide: "quotient", ir.OpMaximum: "larger",
	ir.OpMinimum: "smaller", ir.OpNegate: "negative", ir.OpCompare: "test", ir.OpSelect: "chosen", ir.OpConvert: "cast",
	ir.OpReduce: "reduced", ir.OpReduceWindow: "windows", ir.OpConcatenate: "joined", ir.OpTranspose: "transposed",
	ir.OpReshape: "reshaped", ir.OpSlice: "part", ir.OpDynamicSlice: "part", ir.OpDynamicUpdateSlice: "updated",
	ir.OpGather: "taken", ir.OpScatter: "scattered", ir.OpAllReduce: "summed", ir.OpAllGather: "gathered",
	ir.OpReduceScatter: "shard", ir.OpAllToAll: "exchanged", ir.OpCollectivePermute: "moved", ir.OpSort: "ordered",
	ir.OpAdd: "total", ir.OpAbs: "magnitude", ir.OpPower: "power", ir.OpWhile: "state", ir.OpCase: "branch", ir.OpIf: "branch",
	ir.OpNot: "negation", ir.OpAnd: "both", ir.OpOr: "either", ir.OpXor: "mixed", ir.OpConvolution: "conv",
	ir.OpBitcastConvert: "bits", ir.OpPartitionId: "device", ir.OpRngBitGenerator: "random", ir.OpRemainder: "rest",
	ir.OpShiftLeft: "shifted", ir.OpShiftRightLogical: "shifted", ir.OpShiftRightArithmetic: "shifted", ir.OpIota: "iota",
	ir.OpReverse: "reversal", ir.OpClamp: "clipped", ir.OpOptimizationBarrier: "kept", ir.OpCall: "result",
	ir.OpCustomCall: "result", ir.OpPad: "padded", ir.OpSqrt: "root", ir.OpExponentialMinusOne: "expm1", ir.OpLogPlusOne: "log1p",
	ir.OpConstant: "constant", ir.OpSdyManualComputation: "manual", ir.OpShardMapPsum: "summed", ir.OpShardMapPmax: "largest",
	ir.OpShardMapPmin: "smallest", ir.OpShardMapAllGather: "gathered", ir.OpShardMapAllGatherInvariant: "gathered",
	ir.OpShardMapAllGatherReduced: "gathered", ir.OpShardMapPsumScatter: "shard", ir.OpShardMapAllToAll: "exchanged",
	ir.OpShardMapPpermute: "moved", ir.OpShardMapPbroadcast: "received", ir.OpShardMapRaggedAllToAll: "exchanged",
	ir.OpShardMapPscatter: "shard", ir.OpShardMapAxisIndex: "index", ir.OpShardMapPvary: "varying",
	ir.OpShardMapPreduced: "reduced", ir.OpShardMapReducedVaryCast: "varying", ir.OpShardMapVaryUnreducedCast: "terms",
	ir.OpShardMapUnreducedPsum: "summed", ir.OpShardMapUnreducedPmax: "largest", ir.OpShardMapUnreducedPmin: "smallest",
	ir.OpShardMapUnreducedPsumScatter: "shard",
}
