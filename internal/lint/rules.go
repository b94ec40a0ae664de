package lint

// rules is the table of rules, by name.
var rules = []Rule{
	{
		Name:    "custom-op-without-rule",
		Summary: "a custom operation has no sharding rule",
		Text: "Nothing is known about how the dimensions of its operands and results belong together, so no sharding passes through, and the " +
			"operation runs on whole tensors. Give it a rule: `--rule 'NAME: (a b) -> (a b)'`, \"rule\" in model.json, or the attribute " +
			"`sdy.sharding_rule`.",
		Example: `func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @my_op(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
`,
		check: (*linter).customOps,
	},
	{
		Name:    "dead-sharding",
		Summary: "a sharding on a result that nothing uses",
		Text:    "The operation can be removed, so its sharding decides nothing. Often the annotation was meant for another value.",
		Example: mesh + `func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  return %arg0 : tensor<8x4xf32>
}
`,
		check: (*linter).deadShardings,
	},
	{
		Name:    "indivisible-dimension",
		Summary: "a dimension of an argument is not a multiple of a mesh axis",
		Text: "It is cut along the axis only where a sharding says so, and padded then; else along a part of the axis that divides the " +
			"size, or it stays whole. Vocabularies such as 50257 are often padded to the next multiple. Arguments that have shardings are " +
			"left to `uneven-sharding`, axes as large as the dimension and arguments of less than 2 % of all bytes count for nothing. " +
			"`--mesh` says for which mesh.",
		Example: mesh + `func.func @main(%arg0: tensor<7x4xf32>) -> tensor<7x4xf32> {
  return %arg0 : tensor<7x4xf32>
}
`,
		check: (*linter).indivisibleDimensions,
	},
	{
		Name:    "replicated-argument",
		Summary: "a large argument without a sharding stays whole on every device",
		Text: "The program has shardings, but none reaches this argument of at least 1 MiB, so every device holds all of it. Give it a " +
			"sharding, " +
			"or one without axes, such as `[{}, {}]`, where that is meant.",
		Example: mesh + `func.func @main(%arg0: tensor<1024x1024xf32>, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<1024x1024xf32>, tensor<8x4xf32>) {
  return %arg0, %arg1 : tensor<1024x1024xf32>, tensor<8x4xf32>
}
`,
		check: (*linter).replicatedArguments,
	},
	{
		Name:    "uneven-sharding",
		Summary: "a dimension is not a multiple of the devices that it is cut over",
		Text: "The last devices hold less than the others, and padding. Plans keep such shardings and pad the dimension, which wastes memory " +
			"and work: the message says how much. Where an operation cannot be computed with padding, axes that do not divide its result " +
			"are dropped, so that it is cut along fewer axes than the program says. Propagation drops them at inputs and outputs, as Shardy does.",
		Example: mesh + `func.func @main(%arg0: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<6x4xf32> {
  return %arg0 : tensor<6x4xf32>
}
`,
		check: (*linter).unevenShardings,
	},
	{
		Name:    "unreachable-function",
		Summary: "a private function that nothing calls",
		Text:    "It is not part of the program; its shardings decide nothing. Remove it, or make it public.",
		Example: `func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  return %arg0 : tensor<8x4xf32>
}
func.func private @f(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  return %arg0 : tensor<8x4xf32>
}
`,
		check: (*linter).unreachableFunctions,
	},
	{
		Name:    "unsupported-op",
		Summary: "the backend cannot run the program",
		Text: "Plans can be made and read, but not run and verified here. The finding names what cannot be run: the first such operation of " +
			"each function.",
		Example: `func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @my_op(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
`,
		check: (*linter).unsupportedOps,
	},
	{
		Name:    "unused-axis",
		Summary: "a mesh axis that no sharding uses, although every argument has one",
		Text: "All devices along the axis do the same work. Often a name is missing in the annotations. Where replication is meant, say so: " +
			"`replicated={\"y\"}`.",
		Example: mesh + `func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %arg0 : tensor<8x4xf32>
}
`,
		check: (*linter).unusedAxes,
	},
	{
		Name:    "unused-mesh",
		Summary: "a mesh that no sharding names, beside one that is used",
		Text:    "Plans are for one mesh. Remove the other, or merge them.",
		Example: mesh + `sdy.mesh @other = <["x"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x4xf32> {
  return %arg0 : tensor<8x4xf32>
}
`,
		check: (*linter).unusedMeshes,
	},
}

const mesh = "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"
