package ir

// Field is a named part of an attribute. At points to its value: a number, a list of numbers, a boolean, a type, or a case of an
// enum as a string.
type Field struct {
	Name string
	At   any
}

// Fields returns the parts of an attribute of StableHLO or CHLO that has several, in the order in which text and bytecode have them;
// nil for any other attribute. What is written through them changes the attribute.
func Fields(a Attr) []Field {
	switch a := a.(type) {
	case *DotDims:
		return []Field{{"lhs_batching_dimensions", &a.LhsBatch}, {"rhs_batching_dimensions", &a.RhsBatch},
			{"lhs_contracting_dimensions", &a.LhsContract}, {"rhs_contracting_dimensions", &a.RhsContract}}
	case *RaggedDims:
		return append(Fields(&a.Dot), Field{"lhs_ragged_dimensions", &a.Ragged}, Field{"rhs_group_dimensions", &a.Group})
	case *GatherDims:
		return []Field{{"offset_dims", &a.Offset}, {"collapsed_slice_dims", &a.Collapsed}, {"operand_batching_dims", &a.OperandBatch},
			{"start_indices_batching_dims", &a.IndicesBatch}, {"start_index_map", &a.StartIndexMap}, {"index_vector_dim", &a.IndexVectorDim}}
	case *ScatterDims:
		return []Field{{"update_window_dims", &a.UpdateWindow}, {"inserted_window_dims", &a.InsertedWindow},
			{"input_batching_dims", &a.InputBatch}, {"scatter_indices_batching_dims", &a.IndicesBatch},
			{"scatter_dims_to_operand_dims", &a.ToOperand}, {"index_vector_dim", &a.IndexVectorDim}}
	case *ConvDims:
		return []Field{
			{"input_batch_dimension", &a.InBatch}, {"input_feature_dimension", &a.InFeature}, {"input_spatial_dimensions", &a.InSpatial},
			{"kernel_input_feature_dimension", &a.KernelIn}, {"kernel_output_feature_dimension", &a.KernelOut},
			{"kernel_spatial_dimensions", &a.KernelSpatial},
			{"output_batch_dimension", &a.OutBatch}, {"output_feature_dimension", &a.OutFeature}, {"output_spatial_dimensions", &a.OutSpatial}}
	case *ChannelHandle:
		return []Field{{"handle", &a.Handle}, {"type", &a.Type}}
	case *OutputAlias:
		return []Field{{"output_tuple_indices", &a.OutputIndices}, {"operand_index", &a.OperandIndex},
			{"operand_tuple_indices", &a.OperandIndices}}
	case *ResultAccuracy:
		return []Field{{"atol", &a.Atol}, {"rtol", &a.Rtol}, {"ulps", &a.Ulps}, {"mode", &a.Mode}}
	case *DotAlgorithm:
		return []Field{{"lhs_precision_type", &a.LhsType}, {"rhs_precision_type", &a.RhsType}, {"accumulation_type", &a.AccumulationType},
			{"lhs_component_count", &a.LhsCount}, {"rhs_component_count", &a.RhsCount}, {"num_primitive_operations", &a.Operations},
			{"allow_imprecise_accumulation", &a.AllowImprecise}}
	}
	return nil
}

// NewDims returns an attribute of dimension numbers of a form without any of them, nil for forms of other attributes.
func (f AttrForm) NewDims() Attr {
	switch f {
	case DotForm:
		return &DotDims{}
	case GatherForm:
		return &GatherDims{}
	case ScatterForm:
		return &ScatterDims{}
	case ConvForm:
		return &ConvDims{}
	}
	return nil
}
