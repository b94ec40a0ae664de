// Package modeljson reads and writes model.json, the framework-neutral form of a program that a person can write.
//
// A model names its inputs, applies StableHLO operations to them by name, and lists its outputs:
//
//	{
//	  "schema": "autoshard.model/v1",
//	  "name": "layer",
//	  "meshes": [{"name": "mesh", "axes": [{"name": "data", "size": 4}]}],
//	  "inputs": [
//	    {"name": "x", "type": "f32[16,32]", "role": "batch", "sharding": "<@mesh, [{\"data\"}, {}]>"},
//	    {"name": "w", "type": "f32[32,64]", "role": "param"}
//	  ],
//	  "ops": [
//	    {"op": "einsum", "equation": "bi,ij->bj", "operands": ["x", "w"], "results": ["h"]},
//	    {"op": "tanh", "operands": ["h"], "results": ["y"]}
//	  ],
//	  "outputs": [{"value": "y"}]
//	}
//
// The JSON is the proto3 JSON mapping of the message autoshard.v1.Model. [Read] is strict: unknown fields, unknown
// names and inconsistent types are errors at their line and column. [Write] is its inverse for every module of one
// block per region; what has no JSON form is kept as MLIR text.
package modeljson

// Schema identifies the format; it is the value of a model's field "schema".
const Schema = "autoshard.model/v1"
