package ir

import (
	"strconv"
	"strings"
)

// linalgRoutines are the routines of linear algebra that custom calls of JAX name, with the rank of one problem: of the
// first operand without the dimensions of a batch. The names are LAPACK's for symmetric and real matrices.
var linalgRoutines = map[string]int{
	"potrf": 2, "getrf": 2, "geqrf": 2, "geqp3": 2, "orgqr": 2, "ormqr": 2, "syevd": 2, "geev": 2, "gesdd": 2,
	"gees": 2, "gehrd": 2, "sytrd": 2, "trsm": 2, "gtsv": 1, "lu_pivots_to_permutation": 1,
}

// routineNames are other names of the same computations.
var routineNames = map[string]string{
	"ungqr": "orgqr", "unmqr": "ormqr", "heevd": "syevd", "hetrd": "sytrd", "gtsv2": "gtsv",
	"gesvd": "gesdd", "gesvdj": "gesdd", "gesvdp": "gesdd", "eig_real": "geev", "eig_comp": "geev",
}

// tpuRoutines are the targets that JAX uses for TPUs.
var tpuRoutines = map[string]string{
	"Eigh": "syevd", "LuDecomposition": "getrf", "Qr": "geqrf", "ProductOfElementaryHouseholderReflectors": "orgqr",
}

// LinalgRoutine returns the LAPACK routine that the target of a custom call stands for, whatever hardware the target
// names: "getrf" for lapack_sgetrf_ffi, cusolver_getrf_ffi, hipsolver_getrf_ffi and LuDecomposition. It returns "" for
// other targets, and for forms that hide sizes and options in bytes that only one version of a library reads.
func LinalgRoutine(target string) string {
	if r := tpuRoutines[target]; r != "" {
		return r
	}
	name := target
	if typed, ok := strings.CutSuffix(target, "_ffi"); ok {
		vendor, routine, found := strings.Cut(typed, "_")
		if !found {
			return ""
		}
		switch vendor {
		case "lapack":
			if routine == "" || !strings.ContainsRune("sdcz", rune(routine[0])) {
				return ""
			}
			name = routine[1:]
		case "cusolver", "hipsolver", "cusparse", "hipsparse":
			name = routine
		default:
			return ""
		}
	} else {
		vendor, routine, _ := strings.Cut(target, "_")
		switch vendor {
		case "cuhybrid", "hiphybrid", "cu", "hip":
			name = routine
		default:
			return ""
		}
	}
	if other := routineNames[name]; other != "" {
		name = other
	}
	if linalgRoutines[name] == 0 {
		return ""
	}
	return name
}

// IsPythonCallback says whether the target of a custom call runs a function of the Python process that lowered the
// program.
func IsPythonCallback(target string) bool {
	for _, suffix := range []string{"python_cpu_callback", "python_gpu_callback"} {
		if strings.HasPrefix(target, "xla_") && strings.HasSuffix(target, suffix) {
			return true
		}
	}
	return false
}

// CallOptions returns the typed options of a custom call: the dictionary that is its backend_config, or that JAX writes
// beside an empty one; nil where there are none.
func (m *Module) CallOptions(op OpID) Attrs {
	a := m.OpAttrs(op)
	for _, name := range []string{"mhlo.backend_config", "backend_config"} {
		if d, ok := a.Get(name).(DictAttr); ok {
			return Attrs(d)
		}
	}
	return nil
}

// elementwiseCalls are targets that keep every element at its place.
var elementwiseCalls = map[string]bool{
	"annotate_device_placement": true, "InspectSharding": true, "LayoutConstraint": true, "MoveToDevice": true, "MoveToHost": true,
	"Sharding": true, "xla.sdy.FuncResultSharding": true, "X64SplitHigh": true, "X64SplitLow": true, "X64Combine": true,
	"cu_threefry2x32_ffi": true, "hip_threefry2x32_ffi": true,
	"mhlo.acos": true, "mhlo.acosh": true, "mhlo.asin": true, "mhlo.asinh": true, "mhlo.atanh": true, "mhlo.cosh": true,
	"mhlo.erf": true, "mhlo.sinh": true, "mhlo.tan": true,
}

// matrixCalls are targets besides the linear algebra that runs here that work on matrices one by one.
var matrixCalls = map[string]bool{"Cholesky": true, "CompactWyHelper": true,
	"InvertDiagBlocksLowerTriangular": true, "InvertDiagBlocksUpperTriangular": true}

// IndependentDims returns which dimensions of a custom call, the same ones of all its operands and results, hold
// independent problems: its block of such a dimension needs no other block. It returns nil where nothing is known of the
// target. Scalars belong to every problem.
func (m *Module) IndependentDims(op OpID) func(d int) bool {
	target := m.OpAttrs(op).Str("call_target_name")
	if m.NumOperands(op) == 0 {
		return nil
	}
	rank := len(m.Shape(m.Operand(op, 0)))
	switch {
	case elementwiseCalls[target]:
		return func(int) bool { return true }
	case target == "ApproxTopK" || target == "PartialReduce":
		searched := m.CallOptions(op).Int("reduction_dim", -1)
		if searched < 0 {
			return nil
		}
		return func(d int) bool { return d != int(searched) }
	case target == "mhlo.topk":
		return func(d int) bool { return d < rank-1 }
	case matrixCalls[target]:
		return func(d int) bool { return d < rank-2 }
	}
	if n, err := strconv.Atoi(m.OpAttrs(op).Frontend().Str("num_batch_dims")); err == nil {
		return func(d int) bool { return d < n }
	}
	if core := linalgRoutines[LinalgRoutine(target)]; core > 0 {
		return func(d int) bool { return d < rank-core }
	}
	return nil
}

// Frontend returns what the framework that wrote an op, a function's argument or result, or a module says of it to compilers, by the
// attributes that it has.
func (a Attrs) Frontend() Attrs {
	d, _ := a.Get(FrontendAttr).(DictAttr)
	return Attrs(d)
}

// MemoryKind returns the kind of memory to which an op moves its operand, by JAX's names such as "device" and "pinned_host"; "" for ops
// that leave it where it is.
func (m *Module) MemoryKind(op OpID) string {
	switch m.OpAttrs(op).Str("call_target_name") {
	case "annotate_device_placement":
		return m.OpAttrs(op).Frontend().Str("_xla_buffer_placement")
	case "MoveToHost":
		return "pinned_host"
	case "MoveToDevice":
		return "device"
	}
	return ""
}

// ProblemRank returns the rank of the first operand of a routine of linear algebra without the dimensions of a batch,
// 0 for other targets.
func ProblemRank(target string) int { return linalgRoutines[LinalgRoutine(target)] }

// LowerTriangle says whether the lower triangles of the matrices of a custom call of linear algebra hold them. JAX
// writes it as the option uplo for CPUs, as lower for GPUs, and as the first number of a list for TPUs.
func (m *Module) LowerTriangle(op OpID) bool {
	options := m.CallOptions(op)
	switch {
	case options.Get("uplo") != nil:
		return options.Int("uplo", 0) == 'L'
	case options.Get("lower") != nil:
		return options.Bool("lower")
	}
	return !strings.HasPrefix(m.OpAttrs(op).Str("backend_config"), "0")
}

// GivesV says whether a target of singular values gives right singular vectors in columns: the others give rows.
func GivesV(target string) bool {
	return strings.HasSuffix(target, "_gesvdj_ffi") || strings.HasSuffix(target, "_gesvdp_ffi")
}
