package modeljson

import (
	"strings"

	"autoshard/ir"
)

// form says how an attribute looks in JSON. What does not fit its form is written {"mlir": TEXT}.
type form uint8

const (
	anyForm     form = iota // by the JSON value: boolean, whole number (i64), string, list, object
	int64Form               // a whole number
	int32Form               // a whole number
	boolForm                // true or false
	unitForm                // true
	intsForm                // a list of whole numbers
	boolsForm               // a list of booleans
	stringForm              // a string
	symbolForm              // the name of a function, perhaps with @
	enumForm                // the name of a case
	enumsForm               // a list of names of cases
	floatForm               // a number, stored as f32
	matrixForm              // a list of equally long lists of whole numbers
	dotForm                 // an object of lists of dimensions
	gatherForm              // an object of lists of dimensions
	scatterForm             // an object of lists of dimensions
	convForm                // text such as [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
	channelForm             // an object with handle and type
	axesForm                // a list of axes, such as "x" or "x:(1)2"
	dimAxesForm             // a list of such lists, one per dimension
	movesForm               // a list of objects with axes, src and dst
)

// attrForm is the form of an attribute with the enum that its cases belong to.
type attrForm struct {
	form form
	enum string
}

// attrForms are the attributes of operations by name, in the words of the StableHLO specification.
var attrForms = map[string]attrForm{
	"algorithm":                     {},
	"allowed_direction":             {form: enumForm, enum: "propagation_direction"},
	"all_gather_dim":                {form: int64Form},
	"api_version":                   {form: int32Form},
	"backend_config":                {form: stringForm},
	"base_dilations":                {form: intsForm},
	"batch_dims":                    {form: int64Form},
	"batch_group_count":             {form: int64Form},
	"broadcast_dimensions":          {form: intsForm},
	"broadcast_sizes":               {form: intsForm},
	"call_target_name":              {form: stringForm},
	"callee":                        {form: symbolForm},
	"called_computations":           {},
	"channel_handle":                {form: channelForm},
	"channel_id":                    {form: int64Form},
	"compare_type":                  {form: enumForm, enum: "comparison_type"},
	"comparison_direction":          {form: enumForm, enum: "comparison_direction"},
	"composite_attributes":          {},
	"concat_dimension":              {form: int64Form},
	"decomposition":                 {form: symbolForm},
	"dim":                           {form: int64Form},
	"dimension":                     {form: int64Form},
	"dimensions":                    {form: intsForm},
	"dot_dimension_numbers":         {form: dotForm},
	"edge_padding_high":             {form: intsForm},
	"edge_padding_low":              {form: intsForm},
	"einsum_config":                 {form: stringForm},
	"epsilon":                       {form: floatForm},
	"exponent_bits":                 {form: int32Form},
	"feature_group_count":           {form: int64Form},
	"feature_index":                 {form: int64Form},
	"fft_length":                    {form: intsForm},
	"fft_type":                      {form: enumForm, enum: "fft_type"},
	"group_id":                      {form: int64Form},
	"has_side_effect":               {form: boolForm},
	"index":                         {form: int32Form},
	"indices_are_sorted":            {form: boolForm},
	"interior_padding":              {form: intsForm},
	"iota_dimension":                {form: int64Form},
	"is_host_transfer":              {form: boolForm},
	"is_reverse":                    {form: boolForm},
	"is_stable":                     {form: boolForm},
	"k":                             {form: int64Form},
	"known_expanding_dimensions":    {form: intsForm},
	"known_nonexpanding_dimensions": {form: intsForm},
	"left_side":                     {form: boolForm},
	"lhs_dilation":                  {form: intsForm},
	"limit_indices":                 {form: intsForm},
	"lower":                         {form: boolForm},
	"manual_axes":                   {form: axesForm},
	"mantissa_bits":                 {form: int32Form},
	"name":                          {form: stringForm},
	"operand_layouts":               {},
	"output_operand_aliases":        {},
	"padding":                       {form: matrixForm},
	"permutation":                   {form: intsForm},
	"precision_config":              {form: enumsForm, enum: "precision"},
	"replica_groups":                {form: matrixForm},
	"result_accuracy":               {},
	"result_layouts":                {},
	"rhs_dilation":                  {form: intsForm},
	"rng_algorithm":                 {form: enumForm, enum: "rng_algorithm"},
	"rng_distribution":              {form: enumForm, enum: "rng_distribution"},
	"scatter_dimension":             {form: int64Form},
	"scatter_dimension_numbers":     {form: scatterForm},
	"slice_sizes":                   {form: intsForm},
	"source_target_pairs":           {form: matrixForm},
	"split_count":                   {form: int64Form},
	"split_dimension":               {form: int64Form},
	"start_indices":                 {form: intsForm},
	"strides":                       {form: intsForm},
	"transpose_a":                   {form: enumForm, enum: "transpose"},
	"unique_indices":                {form: boolForm},
	"unit_diagonal":                 {form: boolForm},
	"use_global_device_ids":         {form: unitForm},
	"version":                       {form: int32Form},
	"window_dilations":              {form: intsForm},
	"window_dimensions":             {form: intsForm},
	"window_reversal":               {form: boolsForm},
	"window_strides":                {form: intsForm},
	"gathering_axes":                {form: dimAxesForm},
	"slicing_axes":                  {form: dimAxesForm},
	"reduce_scatter_axes":           {form: dimAxesForm},
	"reduction_axes":                {form: axesForm},
	"reduction_op":                  {form: enumForm, enum: "reduction_op"},
	"axes":                          {form: axesForm},
	"params":                        {form: movesForm},
	"mhlo.num_partitions":           {form: int32Form},
	"mhlo.num_replicas":             {form: int32Form},
	ir.AliasAttr:                    {form: int32Form},
}

// opAttrs are the attributes that an operation may have, for those whose list is known; others may have any.
// Attributes of other dialects, such as mhlo.frontend_attributes, may stand on every operation.
var opAttrs = func() map[ir.Kind][]string {
	lists := map[ir.Kind]string{
		ir.OpCall:            "callee",
		ir.OpConstant:        "value",
		ir.OpCompare:         "comparison_direction compare_type",
		ir.OpReducePrecision: "exponent_bits mantissa_bits",
		ir.OpBroadcast:       "broadcast_sizes",
		ir.OpBroadcastInDim:  "broadcast_dimensions",
		ir.OpConcatenate:     "dimension",
		ir.OpCholesky:        "lower",
		ir.OpConvolution: "window_strides padding lhs_dilation rhs_dilation window_reversal dimension_numbers feature_group_count " +
			"batch_group_count precision_config",
		ir.OpDot:                   "precision_config",
		ir.OpDotGeneral:            "dot_dimension_numbers precision_config algorithm",
		ir.OpDynamicBroadcastInDim: "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions",
		ir.OpDynamicIota:           "iota_dimension",
		ir.OpDynamicSlice:          "slice_sizes",
		ir.OpFft:                   "fft_type fft_length",
		ir.OpGather:                "dimension_numbers slice_sizes indices_are_sorted",
		ir.OpGetDimensionSize:      "dimension",
		ir.OpGetTupleElement:       "index",
		ir.OpIota:                  "iota_dimension",
		ir.OpMap:                   "dimensions",
		ir.OpPad:                   "edge_padding_low edge_padding_high interior_padding",
		ir.OpReduce:                "dimensions",
		ir.OpReduceWindow:          "window_dimensions window_strides base_dilations window_dilations padding",
		ir.OpReverse:               "dimensions",
		ir.OpScatter:               "scatter_dimension_numbers indices_are_sorted unique_indices",
		ir.OpSelectAndScatter:      "window_dimensions window_strides padding",
		ir.OpSetDimensionSize:      "dimension",
		ir.OpSlice:                 "start_indices limit_indices strides",
		ir.OpSort:                  "dimension is_stable",
		ir.OpTranspose:             "permutation",
		ir.OpTriangularSolve:       "left_side lower unit_diagonal transpose_a",
		ir.OpBatchNormGrad:         "epsilon feature_index",
		ir.OpBatchNormInference:    "epsilon feature_index",
		ir.OpBatchNormTraining:     "epsilon feature_index",
		ir.OpComposite:             "name decomposition composite_attributes version",
		ir.OpAllGather:             "all_gather_dim replica_groups channel_handle use_global_device_ids",
		ir.OpAllReduce:             "replica_groups channel_handle use_global_device_ids",
		ir.OpAllToAll:              "split_dimension concat_dimension split_count replica_groups channel_handle",
		ir.OpCollectiveBroadcast:   "replica_groups channel_handle",
		ir.OpCollectivePermute:     "source_target_pairs channel_handle",
		ir.OpReduceScatter:         "scatter_dimension replica_groups channel_handle use_global_device_ids",
		ir.OpCustomCall: "call_target_name has_side_effect backend_config api_version called_computations operand_layouts " +
			"result_layouts output_operand_aliases",
		ir.OpRng:                  "rng_distribution",
		ir.OpRngBitGenerator:      "rng_algorithm",
		ir.OpSdyManualComputation: "manual_axes",
		ir.OpSdyShardingGroup:     "group_id",
	}
	for _, k := range []ir.Kind{ir.OpSelect, ir.OpClamp, ir.OpReshape, ir.OpBitcastConvert, ir.OpWhile, ir.OpCase, ir.OpIf,
		ir.OpOptimizationBarrier, ir.OpDynamicUpdateSlice, ir.OpSdyShardingConstraint, ir.OpSdyReshard} {
		lists[k] = ""
	}
	out := map[ir.Kind][]string{}
	for k, list := range lists {
		out[k] = strings.Fields(list)
	}
	return out
}()

// formOf returns the form of an attribute of an operation.
func formOf(k ir.Kind, name string) attrForm {
	if name == "dimension_numbers" {
		if k == ir.OpGather || k == ir.OpDynamicGather {
			return attrForm{form: gatherForm}
		}
		return attrForm{form: convForm}
	}
	if k == ir.OpSdyShardedToUnreduced && name == "axes" {
		return attrForm{form: dimAxesForm}
	}
	if k == ir.OpUnregistered && !strings.Contains(name, ".") {
		return attrForm{}
	}
	return attrForms[name]
}

// knownAttrs returns the attribute names of an operation; ok is false where any may occur.
func knownAttrs(k ir.Kind) (names []string, ok bool) {
	if names, ok = opAttrs[k]; ok {
		return names, true
	}
	if k.IsUnary() || k.IsBinary() {
		return []string{"result_accuracy"}, true
	}
	return nil, false
}
