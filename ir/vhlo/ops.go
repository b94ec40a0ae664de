package vhlo

import "strings"

// Op is an op of the dialect: when it was part of it, and its fields in stored order, which is that of their names.
// All fields are always present.
type Op struct {
	Since  Version
	Until  Version // the last version with it; zero for those that still are
	Fields []string
}

// Lookup returns the op of that name, such as all_gather_v2.
func Lookup(name string) (Op, bool) {
	op, ok := ops[name]
	return op, ok
}

func current(major, minor int, fields string) Op {
	return Op{Since: Version{major, minor}, Fields: strings.Fields(fields)}
}

func past(major, minor, lastMajor, lastMinor int, fields string) Op {
	return Op{Version{major, minor}, Version{lastMajor, lastMinor}, strings.Fields(fields)}
}

// ops are the ops of the dialect by their name with its version (specification: bytecode.md section B.6).
var ops = map[string]Op{
	"abs_v1":                  current(0, 9, ""),
	"add_v1":                  current(0, 9, ""),
	"after_all_v1":            current(0, 9, ""),
	"all_gather_v1":           past(0, 9, 1, 4, "all_gather_dim channel_id replica_groups use_global_device_ids"),
	"all_gather_v2":           current(1, 5, "all_gather_dim channel_id replica_groups use_global_device_ids"),
	"all_reduce_v1":           past(0, 9, 1, 4, "channel_id replica_groups use_global_device_ids"),
	"all_reduce_v2":           current(1, 5, "channel_id replica_groups use_global_device_ids"),
	"all_to_all_v1":           past(0, 9, 1, 4, "channel_id concat_dimension replica_groups split_count split_dimension"),
	"all_to_all_v2":           current(1, 5, "channel_id concat_dimension replica_groups split_count split_dimension"),
	"and_v1":                  current(0, 9, ""),
	"async_done_v1":           current(1, 15, ""),
	"async_start_v1":          current(1, 15, ""),
	"atan2_v1":                current(0, 9, ""),
	"batch_norm_grad_v1":      current(0, 9, "epsilon feature_index"),
	"batch_norm_inference_v1": current(0, 9, "epsilon feature_index"),
	"batch_norm_training_v1":  current(0, 9, "epsilon feature_index"),
	"bitcast_convert_v1":      current(0, 9, ""),
	"broadcast_in_dim_v1":     current(0, 9, "broadcast_dimensions"),
	"broadcast_v1":            current(0, 9, "broadcast_sizes"),
	"call_v1":                 current(0, 9, "callee"),
	"case_v1":                 current(0, 9, ""),
	"cbrt_v1":                 past(0, 9, 1, 9, ""),
	"cbrt_v2":                 current(1, 10, "result_accuracy"),
	"ceil_v1":                 current(0, 9, ""),
	"cholesky_v1":             current(0, 9, "lower"),
	"clamp_v1":                current(0, 9, ""),
	"collective_broadcast_v1": past(0, 16, 1, 19, "channel_id replica_groups"),
	"collective_broadcast_v2": current(1, 20, "channel_id has_dynamic_root replica_groups"),
	"collective_permute_v1":   current(0, 9, "channel_id source_target_pairs"),
	"collective_reduce_v1":    current(1, 19, "channel_id has_dynamic_root replica_groups use_global_device_ids"),
	"compare_v1":              current(0, 9, "compare_type comparison_direction"),
	"complex_v1":              current(0, 9, ""),
	"composite_v1":            past(0, 19, 1, 13, "composite_attributes decomposition name version"),
	"composite_v2":            current(1, 14, "composite_attributes decomposition name version"),
	"concatenate_v1":          current(0, 9, "dimension"),
	"constant_v1":             current(0, 9, "value"),
	"convert_v1":              current(0, 9, ""),
	"convolution_v1": current(0, 9, "batch_group_count feature_group_count input_batch_dimension "+
		"input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "+
		"kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding "+
		"precision_config rhs_dilation window_reversal window_strides"),
	"cosine_v1":              past(0, 9, 1, 9, ""),
	"cosine_v2":              current(1, 10, "result_accuracy"),
	"count_leading_zeros_v1": current(0, 9, ""),
	"create_token_v1":        current(0, 9, ""),
	"cross-replica-sum_v1":   current(0, 9, "replica_groups"),
	"custom_call_v1": past(0, 9, 1, 17, "api_version backend_config call_target_name called_computations "+
		"has_side_effect operand_layouts output_operand_aliases result_layouts"),
	"custom_call_v2": current(1, 18, "api_version backend_config call_target_name called_computations "+
		"has_side_effect operand_layouts output_operand_aliases result_layouts result_tilings"),
	"divide_v1": current(0, 9, ""),
	"dot_general_v1": past(0, 9, 1, 5, "lhs_batching_dimensions lhs_contracting_dimensions precision_config "+
		"rhs_batching_dimensions rhs_contracting_dimensions"),
	"dot_general_v2": current(1, 6, "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions "+
		"lhs_component_count lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config "+
		"rhs_batching_dimensions rhs_component_count rhs_contracting_dimensions rhs_precision_type"),
	"dot_v1": current(0, 9, "precision_config"),
	"dynamic_broadcast_in_dim_v1": current(0, 9, "broadcast_dimensions known_expanding_dimensions "+
		"known_nonexpanding_dimensions"),
	"dynamic_conv_v1": past(0, 9, 0, 19, "batch_group_count feature_group_count input_batch_dimension "+
		"input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "+
		"kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding "+
		"precision_config rhs_dilation window_reversal window_strides"),
	"dynamic_conv_v2": current(0, 20, "batch_group_count feature_group_count input_batch_dimension "+
		"input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "+
		"kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions "+
		"precision_config rhs_dilation window_reversal window_strides"),
	"dynamic_gather_v1": past(0, 9, 1, 0, "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims "+
		"start_index_map"),
	"dynamic_gather_v2": current(1, 1, "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims "+
		"operand_batching_dims start_index_map start_indices_batching_dims"),
	"dynamic_iota_v1":          current(0, 9, "iota_dimension"),
	"dynamic_pad_v1":           current(0, 9, ""),
	"dynamic_reshape_v1":       current(0, 9, ""),
	"dynamic_slice_v1":         current(0, 9, "slice_sizes"),
	"dynamic_update_slice_v1":  current(0, 9, ""),
	"einsum_v1":                current(0, 9, "einsum_config"),
	"exponential_minus_one_v1": past(0, 9, 1, 9, ""),
	"exponential_minus_one_v2": current(1, 10, "result_accuracy"),
	"exponential_v1":           past(0, 9, 1, 8, ""),
	"exponential_v2":           current(1, 9, "result_accuracy"),
	"fft_v1":                   current(0, 9, "fft_length fft_type"),
	"floor_v1":                 current(0, 9, ""),
	"func_v1":                  current(0, 9, "arg_attrs function_type res_attrs sym_name sym_visibility"),
	"gather_v1": past(0, 9, 1, 0, "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims "+
		"slice_sizes start_index_map"),
	"gather_v2": current(1, 1, "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims "+
		"operand_batching_dims slice_sizes start_index_map start_indices_batching_dims"),
	"get_dimension_size_v1":   current(0, 9, "dimension"),
	"get_tuple_element_v1":    current(0, 9, "index"),
	"if_v1":                   current(0, 9, ""),
	"imag_v1":                 current(0, 9, ""),
	"infeed_v1":               current(0, 9, "infeed_config layout"),
	"iota_v1":                 current(0, 9, "iota_dimension"),
	"is_finite_v1":            current(0, 9, ""),
	"log_plus_one_v1":         past(0, 9, 1, 9, ""),
	"log_plus_one_v2":         current(1, 10, "result_accuracy"),
	"log_v1":                  past(0, 9, 1, 9, ""),
	"log_v2":                  current(1, 10, "result_accuracy"),
	"logistic_v1":             past(0, 9, 1, 9, ""),
	"logistic_v2":             current(1, 10, "result_accuracy"),
	"map_v1":                  current(0, 9, "dimensions"),
	"maximum_v1":              current(0, 9, ""),
	"minimum_v1":              current(0, 9, ""),
	"multiply_v1":             current(0, 9, ""),
	"negate_v1":               current(0, 9, ""),
	"not_v1":                  current(0, 9, ""),
	"optimization_barrier_v1": current(0, 9, ""),
	"or_v1":                   current(0, 9, ""),
	"outfeed_v1":              current(0, 9, "outfeed_config"),
	"pad_v1":                  current(0, 9, "edge_padding_high edge_padding_low interior_padding"),
	"partition_id_v1":         current(0, 9, ""),
	"popcnt_v1":               current(0, 9, ""),
	"power_v1":                current(0, 9, ""),
	"real_dynamic_slice_v1":   current(0, 9, ""),
	"real_v1":                 current(0, 9, ""),
	"recv_v1":                 past(0, 9, 1, 11, "channel_id channel_type is_host_transfer"),
	"recv_v2":                 current(1, 12, "channel_id channel_type is_host_transfer source_target_pairs"),
	"reduce_precision_v1":     current(0, 9, "exponent_bits mantissa_bits"),
	"reduce_scatter_v1":       current(0, 9, "channel_id replica_groups scatter_dimension use_global_device_ids"),
	"reduce_v1":               current(0, 9, "dimensions"),
	"reduce_window_v1":        current(0, 9, "base_dilations padding window_dilations window_dimensions window_strides"),
	"remainder_v1":            current(0, 9, ""),
	"replica_id_v1":           current(0, 9, ""),
	"reshape_v1":              current(0, 9, ""),
	"return_v1":               current(0, 9, ""),
	"reverse_v1":              current(0, 9, "dimensions"),
	"rng_bit_generator_v1":    current(0, 9, "rng_algorithm"),
	"rng_v1":                  current(0, 9, "rng_distribution"),
	"round_nearest_afz_v1":    current(0, 9, ""),
	"round_nearest_even_v1":   current(0, 9, ""),
	"rsqrt_v1":                past(0, 9, 1, 9, ""),
	"rsqrt_v2":                current(1, 10, "result_accuracy"),
	"scatter_v1": past(0, 9, 1, 0, "index_vector_dim indices_are_sorted inserted_window_dims "+
		"scatter_dims_to_operand_dims unique_indices update_window_dims"),
	"scatter_v2": current(1, 1, "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims "+
		"scatter_dims_to_operand_dims scatter_indices_batching_dims unique_indices update_window_dims"),
	"select_and_scatter_v1":     current(0, 9, "padding window_dimensions window_strides"),
	"select_v1":                 current(0, 9, ""),
	"send_v1":                   past(0, 9, 1, 11, "channel_id channel_type is_host_transfer"),
	"send_v2":                   current(1, 12, "channel_id channel_type is_host_transfer source_target_pairs"),
	"set_dimension_size_v1":     current(0, 9, "dimension"),
	"shift_left_v1":             current(0, 9, ""),
	"shift_right_arithmetic_v1": current(0, 9, ""),
	"shift_right_logical_v1":    current(0, 9, ""),
	"sign_v1":                   current(0, 9, ""),
	"sine_v1":                   past(0, 9, 1, 9, ""),
	"sine_v2":                   current(1, 10, "result_accuracy"),
	"slice_v1":                  current(0, 9, "limit_indices start_indices strides"),
	"sort_v1":                   current(0, 9, "dimension is_stable"),
	"sqrt_v1":                   past(0, 9, 1, 9, ""),
	"sqrt_v2":                   current(1, 10, "result_accuracy"),
	"subtract_v1":               current(0, 9, ""),
	"tan_v1":                    past(1, 4, 1, 9, ""),
	"tan_v2":                    current(1, 10, "result_accuracy"),
	"tanh_v1":                   past(0, 9, 1, 9, ""),
	"tanh_v2":                   current(1, 10, "result_accuracy"),
	"torch_index_select_v1":     current(0, 9, "batch_dims dim"),
	"transpose_v1":              current(0, 9, "permutation"),
	"triangular_solve_v1":       current(0, 9, "left_side lower transpose_a unit_diagonal"),
	"tuple_v1":                  current(0, 9, ""),
	"unary_einsum_v1":           current(0, 9, "einsum_config"),
	"uniform_dequantize_v1":     current(0, 9, ""),
	"uniform_quantize_v1":       current(0, 9, ""),
	"while_v1":                  current(0, 9, ""),
	"xor_v1":                    current(0, 9, ""),
}
