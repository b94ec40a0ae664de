package ir

import "strings"

// declared are the attributes that ops declare themselves, by name; those that must be there have an exclamation mark.
// The generic form shows them as properties (specification: stablehlo.md section 1.3).
var declared = map[Kind]string{
	OpAllGather:                         "all_gather_dim! channel_handle replica_groups! use_global_device_ids",
	OpAllReduce:                         "channel_handle replica_groups! use_global_device_ids",
	OpAllToAll:                          "channel_handle concat_dimension! replica_groups! split_count! split_dimension!",
	OpBatchNormGrad:                     "epsilon! feature_index!",
	OpBatchNormInference:                "epsilon! feature_index!",
	OpBatchNormTraining:                 "epsilon! feature_index!",
	OpBroadcastInDim:                    "broadcast_dimensions!",
	OpBroadcast:                         "broadcast_sizes!",
	OpCbrt:                              "result_accuracy",
	OpCholesky:                          "lower",
	OpCollectiveBroadcast:               "channel_handle has_dynamic_root replica_groups!",
	OpCollectivePermute:                 "channel_handle source_target_pairs!",
	OpCollectiveReduce:                  "channel_handle has_dynamic_root replica_groups! use_global_device_ids",
	OpCompare:                           "compare_type comparison_direction!",
	OpComposite:                         "composite_attributes decomposition! name! version",
	OpConcatenate:                       "dimension!",
	OpConstant:                          "value!",
	OpConvolution:                       "batch_group_count! dimension_numbers! feature_group_count! lhs_dilation padding precision_config rhs_dilation window_reversal window_strides",
	OpCosine:                            "result_accuracy",
	OpCrossReplicaSum:                   "replica_groups!",
	OpCustomCall:                        "api_version backend_config call_target_name! called_computations has_side_effect operand_layouts output_operand_aliases result_layouts result_tilings",
	OpDotGeneral:                        "algorithm dot_dimension_numbers! precision_config",
	OpDot:                               "precision_config",
	OpDynamicBroadcastInDim:             "broadcast_dimensions! known_expanding_dimensions known_nonexpanding_dimensions",
	OpDynamicConv:                       "batch_group_count! dimension_numbers! feature_group_count! lhs_dilation precision_config rhs_dilation window_reversal window_strides",
	OpDynamicGather:                     "dimension_numbers! indices_are_sorted",
	OpDynamicIota:                       "iota_dimension!",
	OpDynamicSlice:                      "slice_sizes!",
	OpEinsum:                            "einsum_config!",
	OpExponential:                       "result_accuracy",
	OpExponentialMinusOne:               "result_accuracy",
	OpFft:                               "fft_length! fft_type!",
	OpGather:                            "dimension_numbers! indices_are_sorted slice_sizes!",
	OpGetDimensionSize:                  "dimension!",
	OpGetTupleElement:                   "index!",
	OpInfeed:                            "infeed_config! layout",
	OpIota:                              "iota_dimension!",
	OpLogPlusOne:                        "result_accuracy",
	OpLog:                               "result_accuracy",
	OpLogistic:                          "result_accuracy",
	OpMap:                               "dimensions!",
	OpOutfeed:                           "outfeed_config!",
	OpPad:                               "edge_padding_high! edge_padding_low! interior_padding!",
	OpRecv:                              "channel_handle! is_host_transfer source_target_pairs",
	OpReduce:                            "dimensions!",
	OpReducePrecision:                   "exponent_bits! mantissa_bits!",
	OpReduceScatter:                     "channel_handle replica_groups! scatter_dimension! use_global_device_ids",
	OpReduceWindow:                      "base_dilations padding window_dilations window_dimensions! window_strides",
	OpReverse:                           "dimensions!",
	OpRngBitGenerator:                   "rng_algorithm!",
	OpRng:                               "rng_distribution!",
	OpRsqrt:                             "result_accuracy",
	OpScatter:                           "indices_are_sorted scatter_dimension_numbers! unique_indices",
	OpSelectAndScatter:                  "padding window_dimensions window_strides",
	OpSend:                              "channel_handle! is_host_transfer source_target_pairs",
	OpSetDimensionSize:                  "dimension!",
	OpSine:                              "result_accuracy",
	OpSlice:                             "limit_indices! start_indices! strides!",
	OpSort:                              "dimension is_stable",
	OpSqrt:                              "result_accuracy",
	OpTan:                               "result_accuracy",
	OpTanh:                              "result_accuracy",
	OpTorchIndexSelect:                  "batch_dims! dim!",
	OpTranspose:                         "permutation!",
	OpTriangularSolve:                   "left_side! lower! transpose_a! unit_diagonal!",
	OpUnaryEinsum:                       "einsum_config!",
	OpChloBroadcastAdd:                  "broadcast_dimensions",
	OpChloBroadcastAnd:                  "broadcast_dimensions",
	OpChloBroadcastAtan2:                "broadcast_dimensions",
	OpChloBroadcastCompare:              "broadcast_dimensions compare_type comparison_direction!",
	OpChloBroadcastComplex:              "broadcast_dimensions",
	OpChloBroadcastDivide:               "broadcast_dimensions",
	OpChloBroadcastMaximum:              "broadcast_dimensions",
	OpChloBroadcastMinimum:              "broadcast_dimensions",
	OpChloBroadcastMultiply:             "broadcast_dimensions",
	OpChloBroadcastNextAfter:            "broadcast_dimensions",
	OpChloBroadcastOr:                   "broadcast_dimensions",
	OpChloBroadcastPolygamma:            "broadcast_dimensions",
	OpChloBroadcastPower:                "broadcast_dimensions",
	OpChloBroadcastRemainder:            "broadcast_dimensions",
	OpChloBroadcastShiftLeft:            "broadcast_dimensions",
	OpChloBroadcastShiftRightArithmetic: "broadcast_dimensions",
	OpChloBroadcastShiftRightLogical:    "broadcast_dimensions",
	OpChloBroadcastSubtract:             "broadcast_dimensions",
	OpChloBroadcastXor:                  "broadcast_dimensions",
	OpChloBroadcastZeta:                 "broadcast_dimensions",
	OpChloConstantLike:                  "value!",
	OpChloConstantWithShape:             "value!",
	OpChloConstant:                      "value!",
	OpChloRaggedDot:                     "precision_config ragged_dot_dimension_numbers!",
	OpChloScan:                          "dimension! is_associative is_reverse operandSegmentSizes! resultSegmentSizes! scan_dim_size",
	OpChloTopK:                          "is_stable k!",
	OpSdyAllGather:                      "gathering_axes! out_sharding!",
	OpSdyAllReduce:                      "out_sharding! reduction_axes! reduction_op",
	OpSdyAllSlice:                       "out_sharding! slicing_axes!",
	OpSdyAllToAll:                       "out_sharding! params!",
	OpSdyCollectivePermute:              "out_sharding!",
	OpSdyConstant:                       "value!",
	OpSdyDataFlowEdge:                   "sharding",
	OpSdyManualComputation:              "in_shardings! manual_axes! out_shardings!",
	OpSdyNamedComputation:               "in_shardings name! out_shardings",
	OpSdyPropagationBarrier:             "allowed_direction!",
	OpSdyReduceScatter:                  "out_sharding! reduce_scatter_axes! reduction_op",
	OpSdyReplicatedToUnreduced:          "axes! out_sharding!",
	OpSdyReshard:                        "sharding!",
	OpSdyShardedToUnreduced:             "axes! out_sharding!",
	OpSdyShardingConstraint:             "sharding!",
	OpSdyShardingGroup:                  "group_id!",
	OpCall:                              "arg_attrs callee! no_inline res_attrs",
	OpInterpreterRunParallel:            "infeed programs!",
}

// DeclaredAttr is an attribute that an op declares, by name.
type DeclaredAttr struct {
	Name     string
	Required bool
}

var declaredAttrs = func() (lists [NumKinds][]DeclaredAttr) {
	for k, names := range declared {
		for _, name := range strings.Fields(names) {
			bare := strings.TrimSuffix(name, "!")
			lists[k] = append(lists[k], DeclaredAttr{bare, bare != name})
		}
	}
	return lists
}()

// Declares says whether the op declares an attribute of that name. Others may stand on it too, but mean nothing to it.
func (k Kind) Declares(name string) bool {
	for _, d := range declaredAttrs[k] {
		if d.Name == name {
			return true
		}
	}
	return false
}

// Declared returns the attributes that the op declares, in the order of their names. The slice must not be changed.
func (k Kind) Declared() []DeclaredAttr { return declaredAttrs[k] }
