package ir

import "strings"

// opFacts is what package ir knows about an op: its row in the table of ops. A new op is a kind in kind.go and a row in the
// file of its family: opselementwise.go, opsstablehlo.go, opscomm.go, opscontrol.go, opschlo.go or opssdy.go.
type opFacts struct {
	name   string // with its dialect
	traits traits
	arity  arity     // the zero one where check looks at the counts itself; of elementwise ops by their traits
	elems  elemClass // the element types that the operands of an elementwise op take; 0 for all
	// the attributes that it declares: names of attrVocabulary in their order, required ones with an exclamation mark
	attrs string
	infer func(*inference) error      // the types of the results; of elementwise ops by their traits unless it is given
	check func(*verifier, OpID) error // what infer does not see: results that do not follow, and what has words of its own

	// What follows from the others:
	dialect  string
	declared []DeclaredAttr
	plain    Kind // of an op that broadcasts: what it is then
}

type traits uint16

const (
	pure        traits = 1 << iota // no side effects: dead ones may go
	elementwise                    // each result element depends on the operand elements at its place
	commutative
	terminator
	oneOperand     // of elementwise ops
	twoOperands    // of elementwise ops
	broadcasts     // two operands to one shape, before it works elementwise
	bodies         // its regions run as code of their own, on whole tensors
	isolated       // its regions see no value that is defined outside
	communicates   // it is made by several devices together
	reduces        // its last region makes one of two elements
	transfers      // it brings data into the program or out of it, in the order of its tokens
	anyType        // operands and results need not be ranked tensors
	transcendental // its results, but for few operands, are no floating-point numbers: libraries approximate them
	unaryOp        = pure | elementwise | oneOperand
	binaryOp       = pure | elementwise | twoOperands
	broadcastOp    = pure | broadcasts
)

// arity is how many operands, results and regions an op has; at least how many, where atLeast made the number.
type arity struct{ operands, results, regions int }

const many = -1 // any number

func atLeast(n int) int { return -n - 1 }

func least(n int) int { return max(n, -n-1) }

var oneToOne = arity{1, 1, 0}

// opTable has the facts of each kind. Its rows come from the tables of the families when the program starts: a variable with
// an initial value could not name functions that read it.
var (
	opTable    [NumKinds]opFacts
	kindByName = map[string]Kind{}
)

func init() {
	opTable[OpUnregistered].name = "unregistered"
	for _, family := range []map[Kind]opFacts{elementwiseOps, stablehloOps, communicationOps, controlOps, chloOps, sdyOps, shardMapOps} {
		for k, row := range family {
			row.complete()
			opTable[k] = row
			kindByName[row.name] = k
		}
	}
	for k := range opTable {
		if name, ok := strings.CutPrefix(opTable[k].name, "chlo.broadcast_"); ok {
			opTable[k].plain = max(kindByName["stablehlo."+name], kindByName["chlo."+name])
		}
	}
}

// complete fills what follows from the rest of a row.
func (r *opFacts) complete() {
	r.dialect, _, _ = strings.Cut(r.name, ".")
	r.declared = parseDeclared(r.attrs)
	elements := r.traits&(oneOperand|twoOperands) != 0
	switch {
	case r.traits&oneOperand != 0:
		r.arity = oneToOne
	case r.traits&(twoOperands|broadcasts) != 0:
		r.arity = arity{2, 1, 0}
	}
	switch {
	case r.infer != nil:
	case r.traits&broadcasts != 0:
		r.infer = inferBroadcastBinary
	case elements && r.check == nil: // a check has those whose elements do not follow
		r.infer = inferElementwise
	}
}

// ParseKind returns the kind of the op with that full name, such as "stablehlo.add". Ops of shard_map programs have none: MLIR text
// knows no such dialect, so that an op of that name there is unregistered.
func ParseKind(name string) (Kind, bool) {
	k, ok := kindByName[name]
	return k, ok && !k.IsShardMap()
}

func (k Kind) has(t traits) bool { return opTable[k].traits&t != 0 }

// String returns the full name of the op.
func (k Kind) String() string { return opTable[k].name }

// Dialect returns the part of the name before the dot, such as "stablehlo"; "" of OpUnregistered.
func (k Kind) Dialect() string { return opTable[k].dialect }

// IsPure says whether the op has no side effects of its own; regions may still have some.
func (k Kind) IsPure() bool { return k.has(pure) }

// IsElementwise says whether each result element depends on the operand elements at its place alone
// (specification: shardy.md section 4.6).
func (k Kind) IsElementwise() bool { return k.has(elementwise) }

// IsUnary and IsBinary say whether the op is an elementwise op with one or two operands.
func (k Kind) IsUnary() bool  { return k.has(oneOperand) }
func (k Kind) IsBinary() bool { return k.has(twoOperands) }

// IsTranscendental says whether the op is a function whose results libraries approximate, each in its way: but for 0 and infinity, no
// floating-point number has a result that is one, unless that is 0.
func (k Kind) IsTranscendental() bool { return k.has(transcendental) }

// IsBroadcasting says whether the op is one of CHLO that broadcasts two operands to one shape, and is elementwise then.
func (k Kind) IsBroadcasting() bool { return k.has(broadcasts) }

// Plain returns the op that an op of CHLO which broadcasts its operands is once they are broadcast; OpUnregistered of others.
func (k Kind) Plain() Kind { return opTable[k].plain }

// IsCombiner says whether the op is one of StableHLO that makes of two values of a type, without attributes, one of that type.
func (k Kind) IsCombiner() bool {
	return k.IsBinary() && k.Dialect() == "stablehlo" && k != OpCompare && k != OpComplex
}

// IsCommutative says whether swapping the two operands changes nothing.
func (k Kind) IsCommutative() bool { return k.has(commutative) }

// IsConstant says whether the op makes a value that it holds: a constant of StableHLO, or one of Shardy, which is what propagation takes
// those for.
func (k Kind) IsConstant() bool { return k == OpConstant || k == OpSdyConstant }

// IsTerminator says whether the op ends a block.
func (k Kind) IsTerminator() bool { return k.has(terminator) }

// HasBodies says whether the op's regions run as code of their own, on whole tensors: loops and branches.
func (k Kind) HasBodies() bool { return k.has(bodies) }

// Communicates says whether several devices make the op together: the collectives of StableHLO and of Shardy that move data.
func (k Kind) Communicates() bool { return k.has(communicates) }

// Reduces says whether the op's last region makes one element of two, which ReducerOf recognises.
func (k Kind) Reduces() bool { return k.has(reduces) }

// MinOperands and MinRegions return how many operands and regions the op has at least, as far as the table says.
func (k Kind) MinOperands() int { return least(opTable[k].arity.operands) }
func (k Kind) MinRegions() int  { return least(opTable[k].arity.regions) }

// HasTypeRule says whether Verify checks the types of the op, and Infers whether they follow from operands and attributes.
func (k Kind) Infers() bool      { return opTable[k].infer != nil }
func (k Kind) HasTypeRule() bool { return opTable[k].infer != nil || opTable[k].check != nil }

// Transfers says whether the op brings data into the program or out of it, from a host or another program: send, recv, infeed
// and outfeed.
func (k Kind) Transfers() bool { return k.has(transfers) }

// Declares says whether the op declares an attribute of that name. Others may stand on it too, but mean nothing to it.
func (k Kind) Declares(name string) bool {
	_, ok := k.DeclaredAttr(name)
	return ok
}

// DeclaredAttr returns the attribute of that name that the op declares, and whether it does.
func (k Kind) DeclaredAttr(name string) (DeclaredAttr, bool) {
	for i := range opTable[k].declared {
		if d := &opTable[k].declared[i]; d.Name == name {
			return *d, true
		}
	}
	return DeclaredAttr{}, false
}

// CollectiveAxes returns the name of the attribute that holds the axes of a collective of Shardy, "" of a permutation, which has
// none; ok is false of other ops.
func (k Kind) CollectiveAxes() (name string, ok bool) {
	for _, d := range k.Declared() {
		if d.Form == AxesForm || d.Form == DimAxesForm || d.Form == MovesForm {
			name = d.Name
		}
	}
	return name, k.Declares("out_sharding")
}

// Declared returns the attributes that the op declares, in the order of their names. The generic form shows them as properties
// (specification: stablehlo.md section 1.3). The slice must not be changed.
func (k Kind) Declared() []DeclaredAttr { return opTable[k].declared }
