package ir

import "strings"

// Kind is the kind of an op: an enum for the dialects that this program knows. The zero Kind is OpUnregistered.
type Kind uint16

// The kinds of ops, by dialect.
const (
	OpUnregistered                      Kind = iota // any other op, kept in generic form; Module.OpName knows its name
	OpFunc                                          // func.func
	OpMesh                                          // sdy.mesh
	OpCall                                          // func.call
	OpReturn                                        // func.return
	OpModule                                        // builtin.module inside another one
	OpBranch                                        // cf.br
	OpCondBranch                                    // cf.cond_br
	OpAbs                                           // stablehlo.abs
	OpCbrt                                          // stablehlo.cbrt
	OpCeil                                          // stablehlo.ceil
	OpConvert                                       // stablehlo.convert
	OpCosine                                        // stablehlo.cosine
	OpCountLeadingZeros                             // stablehlo.count_leading_zeros
	OpExponential                                   // stablehlo.exponential
	OpExponentialMinusOne                           // stablehlo.exponential_minus_one
	OpFloor                                         // stablehlo.floor
	OpImag                                          // stablehlo.imag
	OpIsFinite                                      // stablehlo.is_finite
	OpLog                                           // stablehlo.log
	OpLogPlusOne                                    // stablehlo.log_plus_one
	OpLogistic                                      // stablehlo.logistic
	OpNegate                                        // stablehlo.negate
	OpNot                                           // stablehlo.not
	OpPopcnt                                        // stablehlo.popcnt
	OpReal                                          // stablehlo.real
	OpReducePrecision                               // stablehlo.reduce_precision
	OpRoundNearestAfz                               // stablehlo.round_nearest_afz
	OpRoundNearestEven                              // stablehlo.round_nearest_even
	OpRsqrt                                         // stablehlo.rsqrt
	OpSign                                          // stablehlo.sign
	OpSine                                          // stablehlo.sine
	OpSqrt                                          // stablehlo.sqrt
	OpTan                                           // stablehlo.tan
	OpTanh                                          // stablehlo.tanh
	OpUniformDequantize                             // stablehlo.uniform_dequantize
	OpUniformQuantize                               // stablehlo.uniform_quantize
	OpAdd                                           // stablehlo.add
	OpAnd                                           // stablehlo.and
	OpAtan2                                         // stablehlo.atan2
	OpCompare                                       // stablehlo.compare
	OpComplex                                       // stablehlo.complex
	OpDivide                                        // stablehlo.divide
	OpMaximum                                       // stablehlo.maximum
	OpMinimum                                       // stablehlo.minimum
	OpMultiply                                      // stablehlo.multiply
	OpOr                                            // stablehlo.or
	OpPower                                         // stablehlo.power
	OpRemainder                                     // stablehlo.remainder
	OpShiftLeft                                     // stablehlo.shift_left
	OpShiftRightArithmetic                          // stablehlo.shift_right_arithmetic
	OpShiftRightLogical                             // stablehlo.shift_right_logical
	OpSubtract                                      // stablehlo.subtract
	OpXor                                           // stablehlo.xor
	OpClamp                                         // stablehlo.clamp
	OpSelect                                        // stablehlo.select
	OpBitcastConvert                                // stablehlo.bitcast_convert
	OpBroadcast                                     // stablehlo.broadcast
	OpBroadcastInDim                                // stablehlo.broadcast_in_dim
	OpConcatenate                                   // stablehlo.concatenate
	OpConstant                                      // stablehlo.constant
	OpCholesky                                      // stablehlo.cholesky
	OpConvolution                                   // stablehlo.convolution
	OpDot                                           // stablehlo.dot
	OpDotGeneral                                    // stablehlo.dot_general
	OpDynamicBroadcastInDim                         // stablehlo.dynamic_broadcast_in_dim
	OpDynamicConv                                   // stablehlo.dynamic_conv
	OpDynamicGather                                 // stablehlo.dynamic_gather
	OpDynamicIota                                   // stablehlo.dynamic_iota
	OpDynamicPad                                    // stablehlo.dynamic_pad
	OpDynamicReshape                                // stablehlo.dynamic_reshape
	OpDynamicSlice                                  // stablehlo.dynamic_slice
	OpDynamicUpdateSlice                            // stablehlo.dynamic_update_slice
	OpEinsum                                        // stablehlo.einsum
	OpFft                                           // stablehlo.fft
	OpGather                                        // stablehlo.gather
	OpGetDimensionSize                              // stablehlo.get_dimension_size
	OpGetTupleElement                               // stablehlo.get_tuple_element
	OpIota                                          // stablehlo.iota
	OpMap                                           // stablehlo.map
	OpPad                                           // stablehlo.pad
	OpPartitionId                                   // stablehlo.partition_id
	OpRealDynamicSlice                              // stablehlo.real_dynamic_slice
	OpReduce                                        // stablehlo.reduce
	OpReduceWindow                                  // stablehlo.reduce_window
	OpReplicaId                                     // stablehlo.replica_id
	OpReshape                                       // stablehlo.reshape
	OpReverse                                       // stablehlo.reverse
	OpScatter                                       // stablehlo.scatter
	OpSelectAndScatter                              // stablehlo.select_and_scatter
	OpSetDimensionSize                              // stablehlo.set_dimension_size
	OpSlice                                         // stablehlo.slice
	OpSort                                          // stablehlo.sort
	OpTorchIndexSelect                              // stablehlo.torch_index_select
	OpTranspose                                     // stablehlo.transpose
	OpTriangularSolve                               // stablehlo.triangular_solve
	OpTuple                                         // stablehlo.tuple
	OpUnaryEinsum                                   // stablehlo.unary_einsum
	OpBatchNormGrad                                 // stablehlo.batch_norm_grad
	OpBatchNormInference                            // stablehlo.batch_norm_inference
	OpBatchNormTraining                             // stablehlo.batch_norm_training
	OpOptimizationBarrier                           // stablehlo.optimization_barrier
	OpAfterAll                                      // stablehlo.after_all
	OpCreateToken                                   // stablehlo.create_token
	OpComposite                                     // stablehlo.composite
	OpAllGather                                     // stablehlo.all_gather
	OpAllReduce                                     // stablehlo.all_reduce
	OpAllToAll                                      // stablehlo.all_to_all
	OpAsyncDone                                     // stablehlo.async_done
	OpAsyncStart                                    // stablehlo.async_start
	OpCase                                          // stablehlo.case
	OpCollectiveBroadcast                           // stablehlo.collective_broadcast
	OpCollectivePermute                             // stablehlo.collective_permute
	OpCollectiveReduce                              // stablehlo.collective_reduce
	OpCrossReplicaSum                               // stablehlo.cross-replica-sum
	OpCustomCall                                    // stablehlo.custom_call
	OpIf                                            // stablehlo.if
	OpInfeed                                        // stablehlo.infeed
	OpOutfeed                                       // stablehlo.outfeed
	OpRecv                                          // stablehlo.recv
	OpReduceScatter                                 // stablehlo.reduce_scatter
	OpRng                                           // stablehlo.rng
	OpRngBitGenerator                               // stablehlo.rng_bit_generator
	OpSend                                          // stablehlo.send
	OpWhile                                         // stablehlo.while
	OpStablehloReturn                               // stablehlo.return
	OpChloAcos                                      // chlo.acos
	OpChloAcosh                                     // chlo.acosh
	OpChloAsin                                      // chlo.asin
	OpChloAsinh                                     // chlo.asinh
	OpChloAtan                                      // chlo.atan
	OpChloAtanh                                     // chlo.atanh
	OpChloBesselI1e                                 // chlo.bessel_i1e
	OpChloConj                                      // chlo.conj
	OpChloCosh                                      // chlo.cosh
	OpChloDigamma                                   // chlo.digamma
	OpChloErf                                       // chlo.erf
	OpChloErfInv                                    // chlo.erf_inv
	OpChloErfc                                      // chlo.erfc
	OpChloIsInf                                     // chlo.is_inf
	OpChloIsNegInf                                  // chlo.is_neg_inf
	OpChloIsPosInf                                  // chlo.is_pos_inf
	OpChloLgamma                                    // chlo.lgamma
	OpChloSinh                                      // chlo.sinh
	OpChloSquare                                    // chlo.square
	OpChloTan                                       // chlo.tan
	OpChloMulhi                                     // chlo.mulhi
	OpChloNextAfter                                 // chlo.next_after
	OpChloPolygamma                                 // chlo.polygamma
	OpChloZeta                                      // chlo.zeta
	OpChloBroadcastAdd                              // chlo.broadcast_add
	OpChloBroadcastAnd                              // chlo.broadcast_and
	OpChloBroadcastAtan2                            // chlo.broadcast_atan2
	OpChloBroadcastCompare                          // chlo.broadcast_compare
	OpChloBroadcastComplex                          // chlo.broadcast_complex
	OpChloBroadcastDivide                           // chlo.broadcast_divide
	OpChloBroadcastMaximum                          // chlo.broadcast_maximum
	OpChloBroadcastMinimum                          // chlo.broadcast_minimum
	OpChloBroadcastMultiply                         // chlo.broadcast_multiply
	OpChloBroadcastNextAfter                        // chlo.broadcast_next_after
	OpChloBroadcastOr                               // chlo.broadcast_or
	OpChloBroadcastPolygamma                        // chlo.broadcast_polygamma
	OpChloBroadcastPower                            // chlo.broadcast_power
	OpChloBroadcastRemainder                        // chlo.broadcast_remainder
	OpChloBroadcastSelect                           // chlo.broadcast_select
	OpChloBroadcastShiftLeft                        // chlo.broadcast_shift_left
	OpChloBroadcastShiftRightArithmetic             // chlo.broadcast_shift_right_arithmetic
	OpChloBroadcastShiftRightLogical                // chlo.broadcast_shift_right_logical
	OpChloBroadcastSubtract                         // chlo.broadcast_subtract
	OpChloBroadcastXor                              // chlo.broadcast_xor
	OpChloBroadcastZeta                             // chlo.broadcast_zeta
	OpChloConstant                                  // chlo.constant
	OpChloConstantLike                              // chlo.constant_like
	OpChloConstantWithShape                         // chlo.constant_with_shape
	OpChloDynamicReshape                            // chlo.dynamic_reshape
	OpChloMinimumBroadcastShapes                    // chlo.minimum_broadcast_shapes
	OpChloRaggedDot                                 // chlo.ragged_dot
	OpChloReshapeDynamic                            // chlo.reshape_dynamic
	OpChloScan                                      // chlo.scan
	OpChloTopK                                      // chlo.top_k
	OpSdyAllGather                                  // sdy.all_gather
	OpSdyAllReduce                                  // sdy.all_reduce
	OpSdyAllSlice                                   // sdy.all_slice
	OpSdyAllToAll                                   // sdy.all_to_all
	OpSdyCollectivePermute                          // sdy.collective_permute
	OpSdyConstant                                   // sdy.constant
	OpSdyDataFlowEdge                               // sdy.data_flow_edge
	OpSdyFuncDataFlowEdge                           // sdy.func_data_flow_edge
	OpSdyManualComputation                          // sdy.manual_computation
	OpSdyNamedComputation                           // sdy.named_computation
	OpSdyPropagationBarrier                         // sdy.propagation_barrier
	OpSdyReduceScatter                              // sdy.reduce_scatter
	OpSdyReplicatedToUnreduced                      // sdy.replicated_to_unreduced
	OpSdyReshard                                    // sdy.reshard
	OpSdyReturn                                     // sdy.return
	OpSdyShardedToUnreduced                         // sdy.sharded_to_unreduced
	OpSdyShardingConstraint                         // sdy.sharding_constraint
	OpSdyShardingGroup                              // sdy.sharding_group
	OpCheckExpectEq                                 // check.expect_eq
	OpCheckExpectEqConst                            // check.expect_eq_const
	OpCheckExpectAlmostEq                           // check.expect_almost_eq
	OpCheckExpectAlmostEqConst                      // check.expect_almost_eq_const
	OpCheckExpectClose                              // check.expect_close
	OpCheckExpectSerializedEq                       // check.expect_serialized_eq
	OpInterpreterPrint                              // interpreter.print
	OpInterpreterProbe                              // interpreter.probe
	OpInterpreterRunParallel                        // interpreter.run_parallel
	NumKinds
)

type traits uint8

const (
	traitPure        traits = 1 << iota // no side effects: dead ones may go
	traitElementwise                    // each result element depends on the operand elements at its place
	traitCommutative
	traitTerminator
	traitUnary
	traitBinary
)

type kindInfo struct {
	name   string
	traits traits
}

var kindInfos = [NumKinds]kindInfo{
	OpUnregistered:                      {"unregistered", 0},
	OpFunc:                              {"func.func", 0},
	OpMesh:                              {"sdy.mesh", 0},
	OpCall:                              {"func.call", 0},
	OpReturn:                            {"func.return", traitTerminator},
	OpModule:                            {"builtin.module", 0},
	OpBranch:                            {"cf.br", traitTerminator},
	OpCondBranch:                        {"cf.cond_br", traitTerminator},
	OpAbs:                               {"stablehlo.abs", traitPure | traitElementwise | traitUnary},
	OpCbrt:                              {"stablehlo.cbrt", traitPure | traitElementwise | traitUnary},
	OpCeil:                              {"stablehlo.ceil", traitPure | traitElementwise | traitUnary},
	OpConvert:                           {"stablehlo.convert", traitPure | traitElementwise | traitUnary},
	OpCosine:                            {"stablehlo.cosine", traitPure | traitElementwise | traitUnary},
	OpCountLeadingZeros:                 {"stablehlo.count_leading_zeros", traitPure | traitElementwise | traitUnary},
	OpExponential:                       {"stablehlo.exponential", traitPure | traitElementwise | traitUnary},
	OpExponentialMinusOne:               {"stablehlo.exponential_minus_one", traitPure | traitElementwise | traitUnary},
	OpFloor:                             {"stablehlo.floor", traitPure | traitElementwise | traitUnary},
	OpImag:                              {"stablehlo.imag", traitPure | traitElementwise | traitUnary},
	OpIsFinite:                          {"stablehlo.is_finite", traitPure | traitElementwise | traitUnary},
	OpLog:                               {"stablehlo.log", traitPure | traitElementwise | traitUnary},
	OpLogPlusOne:                        {"stablehlo.log_plus_one", traitPure | traitElementwise | traitUnary},
	OpLogistic:                          {"stablehlo.logistic", traitPure | traitElementwise | traitUnary},
	OpNegate:                            {"stablehlo.negate", traitPure | traitElementwise | traitUnary},
	OpNot:                               {"stablehlo.not", traitPure | traitElementwise | traitUnary},
	OpPopcnt:                            {"stablehlo.popcnt", traitPure | traitElementwise | traitUnary},
	OpReal:                              {"stablehlo.real", traitPure | traitElementwise | traitUnary},
	OpReducePrecision:                   {"stablehlo.reduce_precision", traitPure | traitElementwise | traitUnary},
	OpRoundNearestAfz:                   {"stablehlo.round_nearest_afz", traitPure | traitElementwise | traitUnary},
	OpRoundNearestEven:                  {"stablehlo.round_nearest_even", traitPure | traitElementwise | traitUnary},
	OpRsqrt:                             {"stablehlo.rsqrt", traitPure | traitElementwise | traitUnary},
	OpSign:                              {"stablehlo.sign", traitPure | traitElementwise | traitUnary},
	OpSine:                              {"stablehlo.sine", traitPure | traitElementwise | traitUnary},
	OpSqrt:                              {"stablehlo.sqrt", traitPure | traitElementwise | traitUnary},
	OpTan:                               {"stablehlo.tan", traitPure | traitElementwise | traitUnary},
	OpTanh:                              {"stablehlo.tanh", traitPure | traitElementwise | traitUnary},
	OpUniformDequantize:                 {"stablehlo.uniform_dequantize", traitPure | traitElementwise | traitUnary},
	OpUniformQuantize:                   {"stablehlo.uniform_quantize", traitPure | traitElementwise | traitUnary},
	OpAdd:                               {"stablehlo.add", traitPure | traitElementwise | traitBinary | traitCommutative},
	OpAnd:                               {"stablehlo.and", traitPure | traitElementwise | traitBinary | traitCommutative},
	OpAtan2:                             {"stablehlo.atan2", traitPure | traitElementwise | traitBinary},
	OpCompare:                           {"stablehlo.compare", traitPure | traitElementwise | traitBinary},
	OpComplex:                           {"stablehlo.complex", traitPure | traitElementwise | traitBinary},
	OpDivide:                            {"stablehlo.divide", traitPure | traitElementwise | traitBinary},
	OpMaximum:                           {"stablehlo.maximum", traitPure | traitElementwise | traitBinary | traitCommutative},
	OpMinimum:                           {"stablehlo.minimum", traitPure | traitElementwise | traitBinary | traitCommutative},
	OpMultiply:                          {"stablehlo.multiply", traitPure | traitElementwise | traitBinary | traitCommutative},
	OpOr:                                {"stablehlo.or", traitPure | traitElementwise | traitBinary | traitCommutative},
	OpPower:                             {"stablehlo.power", traitPure | traitElementwise | traitBinary},
	OpRemainder:                         {"stablehlo.remainder", traitPure | traitElementwise | traitBinary},
	OpShiftLeft:                         {"stablehlo.shift_left", traitPure | traitElementwise | traitBinary},
	OpShiftRightArithmetic:              {"stablehlo.shift_right_arithmetic", traitPure | traitElementwise | traitBinary},
	OpShiftRightLogical:                 {"stablehlo.shift_right_logical", traitPure | traitElementwise | traitBinary},
	OpSubtract:                          {"stablehlo.subtract", traitPure | traitElementwise | traitBinary},
	OpXor:                               {"stablehlo.xor", traitPure | traitElementwise | traitBinary | traitCommutative},
	OpClamp:                             {"stablehlo.clamp", traitPure | traitElementwise},
	OpSelect:                            {"stablehlo.select", traitPure | traitElementwise},
	OpBitcastConvert:                    {"stablehlo.bitcast_convert", traitPure},
	OpBroadcast:                         {"stablehlo.broadcast", traitPure},
	OpBroadcastInDim:                    {"stablehlo.broadcast_in_dim", traitPure},
	OpConcatenate:                       {"stablehlo.concatenate", traitPure},
	OpConstant:                          {"stablehlo.constant", traitPure},
	OpCholesky:                          {"stablehlo.cholesky", traitPure},
	OpConvolution:                       {"stablehlo.convolution", traitPure},
	OpDot:                               {"stablehlo.dot", traitPure},
	OpDotGeneral:                        {"stablehlo.dot_general", traitPure},
	OpDynamicBroadcastInDim:             {"stablehlo.dynamic_broadcast_in_dim", traitPure},
	OpDynamicConv:                       {"stablehlo.dynamic_conv", traitPure},
	OpDynamicGather:                     {"stablehlo.dynamic_gather", traitPure},
	OpDynamicIota:                       {"stablehlo.dynamic_iota", traitPure},
	OpDynamicPad:                        {"stablehlo.dynamic_pad", traitPure},
	OpDynamicReshape:                    {"stablehlo.dynamic_reshape", traitPure},
	OpDynamicSlice:                      {"stablehlo.dynamic_slice", traitPure},
	OpDynamicUpdateSlice:                {"stablehlo.dynamic_update_slice", traitPure},
	OpEinsum:                            {"stablehlo.einsum", traitPure},
	OpFft:                               {"stablehlo.fft", traitPure},
	OpGather:                            {"stablehlo.gather", traitPure},
	OpGetDimensionSize:                  {"stablehlo.get_dimension_size", traitPure},
	OpGetTupleElement:                   {"stablehlo.get_tuple_element", traitPure},
	OpIota:                              {"stablehlo.iota", traitPure},
	OpMap:                               {"stablehlo.map", traitPure},
	OpPad:                               {"stablehlo.pad", traitPure},
	OpPartitionId:                       {"stablehlo.partition_id", traitPure},
	OpRealDynamicSlice:                  {"stablehlo.real_dynamic_slice", traitPure},
	OpReduce:                            {"stablehlo.reduce", traitPure},
	OpReduceWindow:                      {"stablehlo.reduce_window", traitPure},
	OpReplicaId:                         {"stablehlo.replica_id", traitPure},
	OpReshape:                           {"stablehlo.reshape", traitPure},
	OpReverse:                           {"stablehlo.reverse", traitPure},
	OpScatter:                           {"stablehlo.scatter", traitPure},
	OpSelectAndScatter:                  {"stablehlo.select_and_scatter", traitPure},
	OpSetDimensionSize:                  {"stablehlo.set_dimension_size", traitPure},
	OpSlice:                             {"stablehlo.slice", traitPure},
	OpSort:                              {"stablehlo.sort", traitPure},
	OpTorchIndexSelect:                  {"stablehlo.torch_index_select", traitPure},
	OpTranspose:                         {"stablehlo.transpose", traitPure},
	OpTriangularSolve:                   {"stablehlo.triangular_solve", traitPure},
	OpTuple:                             {"stablehlo.tuple", traitPure},
	OpUnaryEinsum:                       {"stablehlo.unary_einsum", traitPure},
	OpBatchNormGrad:                     {"stablehlo.batch_norm_grad", traitPure},
	OpBatchNormInference:                {"stablehlo.batch_norm_inference", traitPure},
	OpBatchNormTraining:                 {"stablehlo.batch_norm_training", traitPure},
	OpOptimizationBarrier:               {"stablehlo.optimization_barrier", traitPure},
	OpAfterAll:                          {"stablehlo.after_all", traitPure},
	OpCreateToken:                       {"stablehlo.create_token", traitPure},
	OpComposite:                         {"stablehlo.composite", traitPure},
	OpAllGather:                         {"stablehlo.all_gather", traitPure},
	OpAllReduce:                         {"stablehlo.all_reduce", traitPure},
	OpAllToAll:                          {"stablehlo.all_to_all", traitPure},
	OpAsyncDone:                         {"stablehlo.async_done", 0},
	OpAsyncStart:                        {"stablehlo.async_start", 0},
	OpCase:                              {"stablehlo.case", traitPure},
	OpCollectiveBroadcast:               {"stablehlo.collective_broadcast", traitPure},
	OpCollectivePermute:                 {"stablehlo.collective_permute", traitPure},
	OpCollectiveReduce:                  {"stablehlo.collective_reduce", traitPure},
	OpCrossReplicaSum:                   {"stablehlo.cross-replica-sum", traitPure},
	OpCustomCall:                        {"stablehlo.custom_call", 0},
	OpIf:                                {"stablehlo.if", traitPure},
	OpInfeed:                            {"stablehlo.infeed", 0},
	OpOutfeed:                           {"stablehlo.outfeed", 0},
	OpRecv:                              {"stablehlo.recv", 0},
	OpReduceScatter:                     {"stablehlo.reduce_scatter", traitPure},
	OpRng:                               {"stablehlo.rng", 0},
	OpRngBitGenerator:                   {"stablehlo.rng_bit_generator", traitPure},
	OpSend:                              {"stablehlo.send", 0},
	OpWhile:                             {"stablehlo.while", traitPure},
	OpStablehloReturn:                   {"stablehlo.return", traitTerminator},
	OpChloAcos:                          {"chlo.acos", traitPure | traitElementwise | traitUnary},
	OpChloAcosh:                         {"chlo.acosh", traitPure | traitElementwise | traitUnary},
	OpChloAsin:                          {"chlo.asin", traitPure | traitElementwise | traitUnary},
	OpChloAsinh:                         {"chlo.asinh", traitPure | traitElementwise | traitUnary},
	OpChloAtan:                          {"chlo.atan", traitPure | traitElementwise | traitUnary},
	OpChloAtanh:                         {"chlo.atanh", traitPure | traitElementwise | traitUnary},
	OpChloBesselI1e:                     {"chlo.bessel_i1e", traitPure | traitElementwise | traitUnary},
	OpChloConj:                          {"chlo.conj", traitPure | traitElementwise | traitUnary},
	OpChloCosh:                          {"chlo.cosh", traitPure | traitElementwise | traitUnary},
	OpChloDigamma:                       {"chlo.digamma", traitPure | traitElementwise | traitUnary},
	OpChloErf:                           {"chlo.erf", traitPure | traitElementwise | traitUnary},
	OpChloErfInv:                        {"chlo.erf_inv", traitPure | traitElementwise | traitUnary},
	OpChloErfc:                          {"chlo.erfc", traitPure | traitElementwise | traitUnary},
	OpChloIsInf:                         {"chlo.is_inf", traitPure | traitElementwise | traitUnary},
	OpChloIsNegInf:                      {"chlo.is_neg_inf", traitPure | traitElementwise | traitUnary},
	OpChloIsPosInf:                      {"chlo.is_pos_inf", traitPure | traitElementwise | traitUnary},
	OpChloLgamma:                        {"chlo.lgamma", traitPure | traitElementwise | traitUnary},
	OpChloSinh:                          {"chlo.sinh", traitPure | traitElementwise | traitUnary},
	OpChloSquare:                        {"chlo.square", traitPure | traitElementwise | traitUnary},
	OpChloTan:                           {"chlo.tan", traitPure | traitElementwise | traitUnary},
	OpChloMulhi:                         {"chlo.mulhi", traitPure | traitElementwise | traitBinary},
	OpChloNextAfter:                     {"chlo.next_after", traitPure | traitElementwise | traitBinary},
	OpChloPolygamma:                     {"chlo.polygamma", traitPure | traitElementwise | traitBinary},
	OpChloZeta:                          {"chlo.zeta", traitPure | traitElementwise | traitBinary},
	OpChloBroadcastAdd:                  {"chlo.broadcast_add", traitPure},
	OpChloBroadcastAnd:                  {"chlo.broadcast_and", traitPure},
	OpChloBroadcastAtan2:                {"chlo.broadcast_atan2", traitPure},
	OpChloBroadcastCompare:              {"chlo.broadcast_compare", traitPure},
	OpChloBroadcastComplex:              {"chlo.broadcast_complex", traitPure},
	OpChloBroadcastDivide:               {"chlo.broadcast_divide", traitPure},
	OpChloBroadcastMaximum:              {"chlo.broadcast_maximum", traitPure},
	OpChloBroadcastMinimum:              {"chlo.broadcast_minimum", traitPure},
	OpChloBroadcastMultiply:             {"chlo.broadcast_multiply", traitPure},
	OpChloBroadcastNextAfter:            {"chlo.broadcast_next_after", traitPure},
	OpChloBroadcastOr:                   {"chlo.broadcast_or", traitPure},
	OpChloBroadcastPolygamma:            {"chlo.broadcast_polygamma", traitPure},
	OpChloBroadcastPower:                {"chlo.broadcast_power", traitPure},
	OpChloBroadcastRemainder:            {"chlo.broadcast_remainder", traitPure},
	OpChloBroadcastSelect:               {"chlo.broadcast_select", traitPure},
	OpChloBroadcastShiftLeft:            {"chlo.broadcast_shift_left", traitPure},
	OpChloBroadcastShiftRightArithmetic: {"chlo.broadcast_shift_right_arithmetic", traitPure},
	OpChloBroadcastShiftRightLogical:    {"chlo.broadcast_shift_right_logical", traitPure},
	OpChloBroadcastSubtract:             {"chlo.broadcast_subtract", traitPure},
	OpChloBroadcastXor:                  {"chlo.broadcast_xor", traitPure},
	OpChloBroadcastZeta:                 {"chlo.broadcast_zeta", traitPure},
	OpChloConstant:                      {"chlo.constant", traitPure},
	OpChloConstantLike:                  {"chlo.constant_like", traitPure},
	OpChloConstantWithShape:             {"chlo.constant_with_shape", traitPure},
	OpChloDynamicReshape:                {"chlo.dynamic_reshape", traitPure},
	OpChloMinimumBroadcastShapes:        {"chlo.minimum_broadcast_shapes", traitPure},
	OpChloRaggedDot:                     {"chlo.ragged_dot", traitPure},
	OpChloReshapeDynamic:                {"chlo.reshape_dynamic", traitPure},
	OpChloScan:                          {"chlo.scan", traitPure},
	OpChloTopK:                          {"chlo.top_k", traitPure},
	OpSdyAllGather:                      {"sdy.all_gather", traitPure},
	OpSdyAllReduce:                      {"sdy.all_reduce", traitPure},
	OpSdyAllSlice:                       {"sdy.all_slice", traitPure},
	OpSdyAllToAll:                       {"sdy.all_to_all", traitPure},
	OpSdyCollectivePermute:              {"sdy.collective_permute", traitPure},
	OpSdyConstant:                       {"sdy.constant", traitPure},
	OpSdyDataFlowEdge:                   {"sdy.data_flow_edge", traitPure},
	OpSdyFuncDataFlowEdge:               {"sdy.func_data_flow_edge", traitPure},
	OpSdyManualComputation:              {"sdy.manual_computation", 0},
	OpSdyNamedComputation:               {"sdy.named_computation", 0},
	OpSdyPropagationBarrier:             {"sdy.propagation_barrier", traitPure | traitElementwise},
	OpSdyReduceScatter:                  {"sdy.reduce_scatter", traitPure},
	OpSdyReplicatedToUnreduced:          {"sdy.replicated_to_unreduced", traitPure},
	OpSdyReshard:                        {"sdy.reshard", traitPure | traitElementwise},
	OpSdyReturn:                         {"sdy.return", traitTerminator},
	OpSdyShardedToUnreduced:             {"sdy.sharded_to_unreduced", traitPure},
	OpSdyShardingConstraint:             {"sdy.sharding_constraint", traitPure | traitElementwise},
	OpSdyShardingGroup:                  {"sdy.sharding_group", 0},
	OpCheckExpectEq:                     {"check.expect_eq", 0},
	OpCheckExpectEqConst:                {"check.expect_eq_const", 0},
	OpCheckExpectAlmostEq:               {"check.expect_almost_eq", 0},
	OpCheckExpectAlmostEqConst:          {"check.expect_almost_eq_const", 0},
	OpCheckExpectClose:                  {"check.expect_close", 0},
	OpCheckExpectSerializedEq:           {"check.expect_serialized_eq", 0},
	OpInterpreterPrint:                  {"interpreter.print", 0},
	OpInterpreterProbe:                  {"interpreter.probe", 0},
	OpInterpreterRunParallel:            {"interpreter.run_parallel", 0},
}

var kindByName = func() map[string]Kind {
	names := make(map[string]Kind, NumKinds)
	for k := OpUnregistered + 1; k < NumKinds; k++ {
		names[kindInfos[k].name] = k
	}
	return names
}()

// ParseKind returns the kind of the op with that full name, such as "stablehlo.add".
func ParseKind(name string) (Kind, bool) {
	k, ok := kindByName[name]
	return k, ok
}

// String returns the full name of the op.
func (k Kind) String() string { return kindInfos[k].name }

// IsPure says whether the op has no side effects of its own; regions may still have some.
func (k Kind) IsPure() bool { return kindInfos[k].traits&traitPure != 0 }

// IsElementwise says whether each result element depends on the operand elements at its place alone
// (specification: shardy.md section 4.6).
func (k Kind) IsElementwise() bool { return kindInfos[k].traits&traitElementwise != 0 }

// IsUnary and IsBinary say whether the op is an elementwise op with one or two operands.
func (k Kind) IsUnary() bool  { return kindInfos[k].traits&traitUnary != 0 }
func (k Kind) IsBinary() bool { return kindInfos[k].traits&traitBinary != 0 }

// IsCombiner says whether the op is one of StableHLO that makes of two values of a type, without attributes, one of that type.
func (k Kind) IsCombiner() bool {
	return k.IsBinary() && strings.HasPrefix(k.String(), "stablehlo.") && k != OpCompare && k != OpComplex
}

// IsCommutative says whether swapping the two operands changes nothing.
func (k Kind) IsCommutative() bool { return kindInfos[k].traits&traitCommutative != 0 }

// IsTerminator says whether the op ends a block.
func (k Kind) IsTerminator() bool { return kindInfos[k].traits&traitTerminator != 0 }
