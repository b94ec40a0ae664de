package modeljson

import (
	"context"
	"slices"

	"autoshard/ir"
)

// Fields are the fields of each object that the reader knows, by the name of its message.
var Fields = map[string][]string{
	"Model": modelFields, "Mesh": meshFields, "Axis": axisFields, "Input": inputFields, "Output": outputFields,
	"Function": functionFields, "Op": opFields, "Region": regionFields, "Argument": argumentFields,
	"Block": blockFields, "Item": itemFields, "Nested": nestedFields, "Resource": resourceFields,
}

// explicit are the operations whose types never follow from operands.
var explicit = []ir.Kind{ir.OpConstant, ir.OpIota, ir.OpReshape, ir.OpBroadcastInDim, ir.OpConvert, ir.OpBitcastConvert, ir.OpCase, ir.OpIf,
	ir.OpMap, ir.OpCustomCall, ir.OpSdyManualComputation, ir.OpAllGather, ir.OpAllToAll, ir.OpReduceScatter, ir.OpChloTopK,
	ir.OpBroadcast, ir.OpFft, ir.OpPartitionId, ir.OpReplicaId, ir.OpDot, ir.OpRngBitGenerator}

// RemoveInferredTypes removes the types of all operations but those that need them: explicit ones, and contractions
// with other elements than their operands'. It returns the text and how many it removed.
func RemoveInferredTypes(src []byte) ([]byte, int) {
	root, err := parse(context.Background(), src)
	if err != nil {
		panic(err)
	}
	types := map[string]string{}
	removed := 0
	removeTypes(&root, types, &removed)
	return appendPretty(nil, &root, 0, 0), removed
}

func removeTypes(n *node, elements map[string]string, removed *int) {
	if n.get("inputs") != nil || n.get("functions") != nil {
		clear(elements)
	}
	if name, typ := n.get("name"), n.get("type"); name != nil && typ != nil {
		elements[name.text] = elementText(typ.text)
	}
	for i := range n.elems {
		removeTypes(&n.elems[i], elements, removed)
	}
	op := n.get("op")
	if op == nil {
		return
	}
	results, typ := n.get("results"), n.get("type")
	if typ != nil && len(results.elems) == 1 {
		elements[results.elems[0].text] = elementText(typ.text)
	}
	kind, _ := ir.ParseKind(fullName(op.text))
	mixed := (kind == ir.OpDotGeneral || kind == ir.OpConvolution) && typ != nil &&
		elements[n.get("operands").elems[0].text] != elementText(typ.text)
	if kind == ir.OpUnregistered || slices.Contains(explicit, kind) || mixed {
		return
	}
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i].name == "type" || n.keys[i].name == "types" {
			n.keys = slices.Delete(n.keys, i, i+1)
			n.elems = slices.Delete(n.elems, i, i+1)
			*removed++
		}
	}
}

// elementText returns the part of a type before its sizes.
func elementText(t string) string {
	for i := range len(t) {
		if t[i] == '[' {
			return t[:i]
		}
	}
	return t
}
