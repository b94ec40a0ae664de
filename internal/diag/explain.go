package diag

// add is the frame of examples that are StableHLO text: f adds a tensor to itself.
func add(mesh, sharding, body string) string {
	return mesh + "func.func @main(%arg0: tensor<8x4xf32>" + sharding + ") -> tensor<8x4xf32> {\n" +
		body + "  return %0 : tensor<8x4xf32>\n}\n"
}

const (
	mesh42   = "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"
	addition = "  %0 = stablehlo.add %arg0, %arg0 : tensor<8x4xf32>\n"
	sum      = `{
  "schema": "autoshard.model/v1",
  "name": "sum",
  "inputs": [{"name": "a", "type": "f32[8,4]"}],
  "ops": [{"op": "add", "operands": ["a", "a"], "results": ["b"]}],
  "outputs": [{"value": "b"}]
}
`
)

// ruled is a model with a rule that lacks a dimension.
const ruled = `{
  "schema": "autoshard.model/v1",
  "inputs": [{"name": "a", "type": "f32[8,4]"}],
  "ops": [{"op": "custom_call", "operands": ["a"], "results": ["b"], "type": "f32[8,4]",
           "attributes": {"call_target_name": "my_op"}, "rule": "(i) -> (i j)"}],
  "outputs": [{"value": "b"}]
}
`

func arg(sharding string) string { return " {sdy.sharding = #sdy.sharding<@mesh, " + sharding + ">}" }

var explanations = []Explanation{
	{Syntax, "syntax error",
		"The text does not follow the grammar of MLIR or JSON at this place. A file that ends too early says so at its end.",
		"model.mlir", "func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {\n" + addition, []string{"propagate model.mlir"}},
	{UnknownOp, "unknown operation",
		"No operation of a known dialect has this name. The nearest name is given where one is near. Operations of other dialects are read in " +
			"generic form, with the name in quotes.",
		"model.mlir", add("", "", "  %0 = stablehlo.ad %arg0, %arg0 : tensor<8x4xf32>\n"), []string{"propagate model.mlir"}},
	{Undefined, "undefined name",
		"A value, function or attribute alias is used that nothing defines, or a value before its definition.",
		"model.mlir", add("", "", "  %0 = stablehlo.add %arg0, %arg1 : tensor<8x4xf32>\n"), []string{"propagate model.mlir"}},
	{Redefined, "name defined twice",
		"Two definitions in one scope have the same name. Rename one of them.",
		"model.mlir", add("", "", addition+addition), []string{"propagate model.mlir"}},
	{NestingTooDeep, "nesting too deep",
		"Regions, attributes or lists are nested more deeply than the reader accepts. No exported program comes near the limit.",
		"", "", nil},
	{InputTooLarge, "input too large",
		"The input, or what it asks for, is over a stated limit: bytes of a file, elements of a tensor, operations after inlining, days of a " +
			"step. The message names the limit.",
		"model.json", `{
  "schema": "autoshard.model/v1",
  "meshes": [{"axes": [{"name": "x", "size": 2}]}],
  "inputs": [{"name": "a", "type": "f32[1000000,1000000]"}],
  "outputs": [{"value": "a"}]
}
`, []string{"plan model.json --memory 10TB -o plan.json", "run plan.json"}},
	{NotText, "not text",
		"The input is a binary file that is no program: neither MLIR bytecode nor a JAX export. Files packed by gzip are unpacked, whatever " +
			"their name.",
		"model.mlir", "\x00\x01binary", []string{"propagate model.mlir"}},
	{EmptyInput, "empty input",
		"The input holds nothing but white space. An export that failed often leaves an empty file behind.",
		"model.mlir", "", []string{"propagate model.mlir"}},
	{BadBytecode, "invalid bytecode",
		"A file of MLIR bytecode or a JAX export breaks the rules of its format at this byte: it is damaged, cut off, or newer than this " +
			"program. Export it again; check that it was copied as a binary file.",
		"model.mlirbc", "ML\xefR\x0fMLIR\x00", []string{"propagate model.mlirbc"}},
	{TypeMismatch, "type mismatch",
		"A type is not the one that this place demands: operands of different types, a result type that does not follow from the operands, or " +
			"a type that is no tensor.",
		"model.mlir", add("", "", "  %0 = stablehlo.add %arg0, %arg0 : tensor<8x8xf32>\n"), []string{"propagate model.mlir"}},
	{BadOp, "wrong operation",
		"An operation is known, but this use of it breaks a rule of its specification, such as the number of operands or a relation between " +
			"shapes and attributes.",
		"model.mlir", add("", "", "  %0 = \"stablehlo.add\"(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>\n"), []string{"propagate model.mlir"}},
	{BadConstant, "wrong constant",
		"A literal does not fit its type: too many or too few elements, or a number that the element type does not have.",
		"model.mlir", add("", "", "  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<8x4xf32>\n"), []string{"propagate model.mlir"}},
	{BadAttribute, "wrong attribute",
		"An attribute is missing, unknown, or has a value that its operation does not accept.",
		"model.mlir", add("", "", "  %0 = \"stablehlo.transpose\"(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>\n"),
		[]string{"propagate model.mlir"}},
	{BadMesh, "wrong mesh",
		"A mesh has an axis of size 0 or no name, an axis twice, or device ids that are not a permutation; or a request names another mesh " +
			"than the model declares, or none is given at all.",
		"model.json", sum, []string{"plan model.json --mesh data=0,model=2"}},
	{UnknownMesh, "unknown mesh",
		"A sharding names a mesh that the program does not declare.",
		"model.mlir", add("", arg(`[{"x"}, {}]`), addition), []string{"propagate model.mlir"}},
	{UnknownAxis, "unknown axis",
		"A sharding names an axis that its mesh does not have.",
		"model.mlir", add(mesh42, arg(`[{"z"}, {}]`), addition), []string{"propagate model.mlir"}},
	{DuplicateAxis, "axis used twice",
		"A sharding uses an axis, or two overlapping parts of it, for more than one dimension. A device holds one block of each dimension, so " +
			"every axis can cut one dimension only.",
		"model.mlir", add(mesh42, arg(`[{"x"}, {"x"}]`), addition), []string{"propagate model.mlir"}},
	{BadSubAxis, "wrong sub-axis",
		"A sub-axis `\"x\":(m)k` stands for the middle of an axis of size n seen as [m, k, n/(m*k)], so m*k must divide n.",
		"model.mlir", add(mesh42, arg(`[{"x":(1)3}, {}]`), addition), []string{"propagate model.mlir"}},
	{BadShardingRank, "sharding of wrong rank",
		"A sharding has more or fewer dimensions than its tensor.",
		"model.mlir", add(mesh42, arg(`[{"x"}, {}, {}]`), addition), []string{"propagate model.mlir"}},
	{BadSharding, "wrong sharding",
		"A sharding breaks another rule, such as a priority on a closed dimension without axes.",
		"model.mlir", add(mesh42, arg(`[{}p1, {}]`), addition), []string{"propagate model.mlir"}},
	{BadRule, "wrong sharding rule",
		"A sharding rule given as text, such as `(b i, i j) -> (b j) reduction={i}`, does not follow its grammar, does not fit the types of " +
			"its operation, or names an operation that the model does not have.",
		"model.json", ruled, []string{"propagate model.json --mesh x=4"}},
	{BadVariance, "wrong variance",
		"A value of a shard_map program varies over other axes than its use allows: an output over an axis that its spec leaves out, a " +
			"reduction over an axis along which all devices hold the same, a carry of a loop that comes back as another type than it began. The " +
			"message names the axes and the cast or collective to insert.",
		"", "", nil},
	{BadModel, "wrong model.json",
		"The JSON is well formed, but not a model: a field is missing or has the wrong kind of value. docs/model.md describes the fields.",
		"model.json", `{"schema": "autoshard.model/v0"}`, []string{"propagate model.json"}},
	{UnknownField, "unknown field",
		"An object has a field that its schema does not know. Misspelt fields would otherwise be ignored silently.",
		"model.json", `{"schema": "autoshard.model/v1", "input": []}`, []string{"propagate model.json"}},
	{BadOption, "wrong option",
		"A flag, environment variable or key of a configuration file is unknown or has a value it cannot have. docs/cli.md lists all options.",
		"model.json", sum, []string{"plan model.json --mesh data=4 --memory 16GiBs"}},
	{BadFile, "wrong file",
		"A file cannot be read or written, or is not of the kind that this place needs.",
		"", "", []string{"plan missing.mlir"}},
	{MissingSize, "missing or wrong size",
		"A model is for any size of some dimensions, and what is given does not say all of them, names one that does not exist, or breaks an " +
			"assertion of the model. The message names the dimension variables, the dimensions that each decides, and how to give them.",
		"model.mlir", "func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {\n  return %arg0 : tensor<?x4xf32>\n}\n",
		[]string{"plan model.mlir --mesh data=4"}},
	{NoPlan, "no plan",
		"The shardings that are required exclude each other, so that no plan exists. The message names an operation that cannot be cut.",
		"", "", nil},
	{MemoryLimit, "memory limit too small",
		"No plan was found that fits in the memory of a device. The message names the smallest limit for which one is known; notes say below " +
			"which there is none, which shardings of the model stand in the way, what the plan that needs least holds where it needs most, the " +
			"largest values first, and what would help.",
		"model.json", sum, []string{"plan model.json --mesh data=4 --memory 16B"}},
	{BudgetLimit, "budget too small",
		"No plan was found whose collectives send no more than the budgets allow. The message names the collective that sends most in the plan " +
			"that comes nearest, and the line that it comes from; notes say what that plan takes beside the fastest one without budgets.",
		"model.mlir", "sdy.mesh @mesh = <[\"data\"=4]>\nfunc.func @main(%arg0: tensor<8xf32> " +
			"{sdy.sharding = #sdy.sharding<@mesh, [{\"data\"}]>})\n" +
			"    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {\n  %0 = stablehlo.negate %arg0 : tensor<8xf32>\n" +
			"  return %0 : tensor<8xf32>\n}\n",
		[]string{"plan model.mlir --budget sent<=0"}},
	{Mismatch, "results differ",
		"A value of the sharded run is not what the program's op makes of the operands that the devices had, an output differs from the " +
			"expected one by more than the tolerance and rounding explain, or collectives moved other amounts than predicted. The message names " +
			"the line of the model or the element of the output; docs/verification.md says what is compared.",
		"model.json", sum, []string{"plan model.json --mesh data=4 -o plan.json", "run plan.json --seed 1 -o out.npz",
			"run plan.json --seed 2 --expect out.npz"}},
	{BadInputs, "wrong inputs",
		"Input or expected arrays do not fit the program: their number, names, types or shapes.",
		"model.json", sum, []string{"plan model.json --mesh data=4 -o plan.json", "run plan.json --seed 1 -o out.npz",
			"run plan.json --inputs out.npz"}},
	{CheckFailed, "problems found",
		"`autoshard check` found errors or warnings; the report names them. docs/check.md describes the warnings and how to switch them off.",
		"model.mlir", mesh42 + "func.func @main(%arg0: tensor<6x4xf32>" + arg(`[{"x"}, {"y"}]`) +
			") -> tensor<6x4xf32> {\n  return %arg0 : tensor<6x4xf32>\n}\n",
		[]string{"check model.mlir"}},
	{NotFeasible, "solution not feasible",
		"A solution of a selection problem uses more than the limit at some time, or an entry that is forbidden. `autoshard solve check` says " +
			"which.",
		"problem.json", `{"problem": {
  "nodes": {"intervals": [[0, 2], [1, 3]], "costs": [[1, 2], [3]], "usages": [[5, 4], [6]]},
  "edges": {"nodes": [[0, 1]], "costs": [[7, 8]]},
  "usage_limit": 10
}}
`, []string{"solve check problem.json [1,0]", "solve check problem.json [0,0]"}},
	{BackendFailed, "backend cannot run the program",
		"What was to run the program, such as a Python with JAX, is missing or failed. The message says what to install, or shows the " +
			"exception, the line of the program and its last output.",
		"model.json", sum, []string{"plan model.json --mesh data=4 -o plan.json", "run plan.json --backend jax --python missing/python"}},
	{PlansDiffer, "plans differ",
		"`autoshard plan diff --exit-code` found that two plans have other shardings, programs or predictions; its output says which.",
		"model.json", sum, []string{"plan model.json --mesh data=4 -o a.json", "plan model.json --mesh data=2 -o b.json",
			"plan diff a.json a.json --exit-code", "plan diff a.json b.json --exit-code"}},
	{PlanChanged, "plan is not what it says",
		"`autoshard plan check` worked out again what a plan.json says and found something else: the file was changed after it was made, was " +
			"made by another version, or what it was made from has changed. The output says what is otherwise.",
		"plan.json", `{"schema": "autoshard.plan/v1", "model": "empty", "program": "module {}"}` + "\n", []string{"plan check plan.json"}},
	{NotANumber, "not a number",
		"With `--check-nans` a run ends at the first operation that makes elements that are NaN of operands that have none, or where an input " +
			"has some. The message says how many, and where the first is.",
		"model.mlir", "func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf32>\n" +
			"  %1 = stablehlo.log %0 : tensor<2xf32>\n  return %1 : tensor<2xf32>\n}\n", []string{"interpret model.mlir --check-nans"}},
	{NotSupported, "not supported",
		"The program is legal, but this version cannot do what it asks for. The message names the operation or attribute.",
		"model.mlir", add("sdy.mesh @a = <[\"x\"=4]>\nsdy.mesh @b = <[\"x\"=2]>\n",
			" {sdy.sharding = #sdy.sharding<@a, [{\"x\"}, {}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@b, [{\"x\"}, {}]>}",
			addition), []string{"plan model.mlir"}},
	{Bug, "internal error",
		"A bug of autoshard. Please report it with the input and the command line; the message names the stage.",
		"", "", nil},
}
