package vhlo

import (
	"bytes"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

const (
	i1  = dtype.I1
	i64 = dtype.I64

	maxSplat = 1 << 10 // elements of a list of dimensions that is stored as one
)

// The versions of the API of custom calls that matter here: the default one and the newest one.
const (
	originalAPI   = 1
	MaxAPIVersion = 4 // typed FFI
)

// listFields are the fields that are tensors here and dense arrays in StableHLO (specification: bytecode.md section
// B.7.2).
var listFields = map[string][]string{
	"broadcast":                {"broadcast_sizes"},
	"broadcast_in_dim":         {"broadcast_dimensions"},
	"convolution":              {"window_strides", "lhs_dilation", "rhs_dilation", "window_reversal"},
	"dynamic_conv":             {"window_strides", "lhs_dilation", "rhs_dilation", "window_reversal"},
	"dynamic_broadcast_in_dim": {"broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"},
	"dynamic_slice":            {"slice_sizes"},
	"gather":                   {"slice_sizes"},
	"fft":                      {"fft_length"},
	"map":                      {"dimensions"},
	"reduce":                   {"dimensions"},
	"reverse":                  {"dimensions"},
	"pad":                      {"edge_padding_low", "edge_padding_high", "interior_padding"},
	"reduce_window":            {"window_dimensions", "window_strides", "base_dilations", "window_dilations"},
	"select_and_scatter":       {"window_dimensions", "window_strides"},
	"slice":                    {"start_indices", "limit_indices", "strides"},
	"transpose":                {"permutation"},
}

type isDefault = func(ir.Attr) bool

// defaults say of the fields that stand for attributes that may be absent which value does so (specification:
// bytecode.md section B.7.1).
var defaults = map[string]map[string]isDefault{
	"func":                     {"sym_visibility": isText(""), "arg_attrs": isEmpty, "res_attrs": isEmpty},
	"all_gather":               collective,
	"all_reduce":               collective,
	"all_to_all":               collective,
	"collective_permute":       collective,
	"reduce_scatter":           collective,
	"collective_broadcast":     collective,
	"collective_reduce":        collective,
	"cholesky":                 {"lower": isFalse},
	"compare":                  {"compare_type": isCase("NOTYPE")},
	"composite":                {"version": isInt(0), "composite_attributes": isEmpty},
	"convolution":              convolution,
	"dynamic_conv":             convolution,
	"dot":                      {"precision_config": allDefault},
	"dot_general":              {"precision_config": allDefault},
	"custom_call":              customCall,
	"dynamic_broadcast_in_dim": {"known_expanding_dimensions": isEmpty, "known_nonexpanding_dimensions": isEmpty},
	"gather":                   {"indices_are_sorted": isFalse},
	"dynamic_gather":           {"indices_are_sorted": isFalse},
	"scatter":                  {"indices_are_sorted": isFalse, "unique_indices": isFalse},
	"infeed":                   {"infeed_config": isText(""), "layout": isEmpty},
	"outfeed":                  {"outfeed_config": isText("")},
	"send":                     {"is_host_transfer": isFalse, "source_target_pairs": isEmpty},
	"recv":                     {"is_host_transfer": isFalse, "source_target_pairs": isEmpty},
	"reduce_window":            {"window_strides": all(1), "base_dilations": all(1), "window_dilations": all(1), "padding": all(0)},
	"select_and_scatter":       {"window_strides": all(1), "padding": all(0)},
	"sort":                     {"dimension": isInt(-1), "is_stable": isFalse},
	"cbrt":                     accuracy,
	"cosine":                   accuracy,
	"exponential":              accuracy,
	"exponential_minus_one":    accuracy,
	"log":                      accuracy,
	"log_plus_one":             accuracy,
	"logistic":                 accuracy,
	"rsqrt":                    accuracy,
	"sine":                     accuracy,
	"sqrt":                     accuracy,
	"tan":                      accuracy,
	"tanh":                     accuracy,
}

var (
	collective  = map[string]isDefault{"channel_id": isInt(0), "use_global_device_ids": isFalse, "has_dynamic_root": isFalse}
	convolution = map[string]isDefault{"window_strides": all(1), "lhs_dilation": all(1), "rhs_dilation": all(1), "window_reversal": all(0),
		"padding": all(0), "precision_config": allDefault}
	customCall = map[string]isDefault{"has_side_effect": isFalse, "backend_config": isEmpty, "api_version": isInt(originalAPI),
		"called_computations": isEmpty, "output_operand_aliases": isEmpty, "result_tilings": isEmpty,
		"operand_layouts": isEmpty, "result_layouts": isEmpty}
	accuracy = map[string]isDefault{"result_accuracy": func(a ir.Attr) bool {
		v, ok := a.(*ir.ResultAccuracy)
		return ok && *v == ir.ResultAccuracy{Mode: "DEFAULT"}
	}}
)

func isFalse(a ir.Attr) bool { return a == ir.Attr(ir.BoolAttr(false)) }

func isText(text string) isDefault {
	return func(a ir.Attr) bool { return a == ir.Attr(ir.StringAttr(text)) }
}

func isCase(name string) isDefault {
	return func(a ir.Attr) bool {
		v, ok := a.(ir.EnumAttr)
		return ok && v.Value == name
	}
}

func isInt(n int64) isDefault {
	return func(a ir.Attr) bool {
		v, ok := a.(ir.IntAttr)
		return ok && v.Value == n
	}
}

// isEmpty says whether a string, list, dictionary or tensor has no elements.
func isEmpty(a ir.Attr) bool {
	switch v := a.(type) {
	case ir.StringAttr:
		return v == ""
	case ir.ArrayAttr:
		return len(v) == 0
	case ir.DictAttr:
		return len(v) == 0
	case *ir.Dense:
		return len(v.Data) == 0
	}
	return false
}

// all says whether a tensor has elements, all of them a small number.
func all(n byte) isDefault {
	return func(a ir.Attr) bool {
		v, ok := a.(*ir.Dense)
		if !ok || !v.Splat { // equal elements are a splat
			return false
		}
		want := make([]byte, len(v.Data))
		want[0] = n
		return bytes.Equal(v.Data, want)
	}
}

// allDefault says whether all precisions are the default one.
func allDefault(a ir.Attr) bool {
	v, ok := a.(ir.ArrayAttr)
	for _, e := range v {
		ok = ok && isCase("DEFAULT")(e)
	}
	return ok
}
