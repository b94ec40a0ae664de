// Package ir is the program representation: modules of StableHLO and Shardy operations in flat tables.
//
// Everything is a dense id into a table of the [Module]: an op is one row, operands lie in one shared slice,
// uses are chains of int32, types and shardings are interned so that equality is an id compare. Passes walk
// rows and write ids; text, names and locations matter to nobody but readers and printers.
//
//	m := ir.NewModule()
//	f32 := m.TensorType(dtype.F32, 4, 8)
//	main := m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{f32}, Results: []ir.TypeID{f32}})
//	b := m.BuilderAtEnd(m.Func(main).Body)
//	x := m.BlockArgs(m.Func(main).Body)[0]
//	y := b.Op1(ir.OpTanh, f32, nil, x)
//	b.Op(ir.OpReturn, nil, nil, y)
//
// The sharding of a value is looked up by value ([Module.Sharding]) wherever the text keeps it: on a function
// argument, in an op attribute, in a constraint. Results of functions are not values and keep theirs in [Func].
package ir

import (
	"autoshard/subaxis"
)

// Dense ids into the tables of a Module. The zero id of each is "none".
type (
	OpID       int32 // an operation
	ValueID    int32 // a result or a block argument
	BlockID    int32 // a list of operations with arguments
	RegionID   int32 // a list of blocks inside an operation
	TypeID     int32 // an interned type
	FuncID     int32 // a function
	MeshID     int32 // a mesh, named or inlined
	ShardingID int32 // an interned tensor sharding
	LocID      int32 // a source location
)

// slot is an index into the shared operand table; 0 ends a chain.
type slot int32

type span struct{ first, n int32 }

type opRow struct {
	kind     Kind
	regions  span
	operands span // slots
	results  span // values
	attrs    Attrs
	block    BlockID
	prev     OpID
	next     OpID
	loc      LocID
}

type valueRow struct {
	typ      TypeID
	sharding ShardingID
	op       OpID    // the op of a result, 0 for an argument
	block    BlockID // the block of an argument, 0 for a result
	index    int32
	uses     slot // most recent use first
}

type operandRow struct {
	value      ValueID
	op         OpID
	index      int32
	next, prev slot
}

type blockRow struct {
	region      RegionID
	args        []ValueID
	first, last OpID
}

type regionRow struct {
	op     OpID
	blocks []BlockID
}

// Func describes a function: an op of kind OpFunc in the module body.
type Func struct {
	Op              OpID
	Name            string
	Visibility      string // "", "public", "private" or "nested"
	Body            BlockID
	ArgAttrs        []Attrs // without sdy.sharding
	ResultTypes     []TypeID
	ResultAttrs     []Attrs // without sdy.sharding
	ResultShardings []ShardingID
}

// MeshDecl is a mesh of the module. Name is empty for meshes that are written inside shardings.
type MeshDecl struct {
	subaxis.Mesh
	Op   OpID
	Name string
}

// Module owns the tables of one program. It must not be changed by two goroutines at once.
type Module struct {
	Name  string // symbol of the module, "" for none
	Attrs Attrs
	Loc   LocID

	ops        []opRow
	values     []valueRow
	operands   []operandRow
	blocks     []blockRow
	regions    []regionRow
	funcs      []Func
	funcOf     map[OpID]FuncID
	meshes     []MeshDecl
	meshOf     map[OpID]MeshID
	meshByText map[string][]MeshID // by what they are made of
	lastMesh   OpID                // of the module's leading meshes, where insertMesh left off
	opNames    map[OpID]string     // names of unregistered ops
	branches   map[OpID][]BlockID  // blocks that terminators may go to

	types     typeTable
	shardings shardingTable
	locs      []Location
	argLocs   map[ValueID]LocID // locations of block arguments
	resources []Resource
	sources   sources
	kinds     [NumKinds]bool // that some op has or had
}

// NewModule returns an empty module.
func NewModule() *Module {
	m := &Module{
		ops:        make([]opRow, 1),
		values:     make([]valueRow, 1),
		operands:   make([]operandRow, 1),
		blocks:     make([]blockRow, 1),
		regions:    make([]regionRow, 1),
		funcs:      make([]Func, 1),
		funcOf:     map[OpID]FuncID{},
		meshes:     make([]MeshDecl, 1),
		meshOf:     map[OpID]MeshID{},
		meshByText: map[string][]MeshID{},
		opNames:    map[OpID]string{},
		locs:       make([]Location, 1),
	}
	m.types.init()
	m.shardings.init()
	region := m.newRegion(0)
	m.newBlock(region)
	return m
}

// Body returns the block that holds the module's functions and meshes.
func (m *Module) Body() BlockID { return 1 }

// NumOps, NumValues bound the ids in use: valid ids are below them. Erased rows stay in the count.
func (m *Module) NumOps() int    { return len(m.ops) }
func (m *Module) NumValues() int { return len(m.values) }

func (m *Module) newRegion(op OpID) RegionID {
	m.regions = append(m.regions, regionRow{op: op})
	return RegionID(len(m.regions) - 1)
}

func (m *Module) newBlock(region RegionID) BlockID {
	m.blocks = append(m.blocks, blockRow{region: region})
	id := BlockID(len(m.blocks) - 1)
	m.regions[region].blocks = append(m.regions[region].blocks, id)
	return id
}

// AddBlock appends a block to a region.
func (m *Module) AddBlock(region RegionID) BlockID { return m.newBlock(region) }

// DetachedBlock returns a new block that is in no region yet, for readers that meet branches to a block before the
// block itself. AttachBlock appends it to a region.
func (m *Module) DetachedBlock() BlockID {
	m.blocks = append(m.blocks, blockRow{})
	return BlockID(len(m.blocks) - 1)
}

// AttachBlock appends a detached block to a region.
func (m *Module) AttachBlock(region RegionID, b BlockID) {
	m.blocks[b].region = region
	m.regions[region].blocks = append(m.regions[region].blocks, b)
}

// Successors returns the blocks that a terminator may go to. The slice must not be changed.
func (m *Module) Successors(op OpID) []BlockID { return m.branches[op] }

// SetSuccessors says which blocks a terminator may go to; they are in the region of the op.
func (m *Module) SetSuccessors(op OpID, blocks []BlockID) {
	if m.branches == nil {
		m.branches = map[OpID][]BlockID{}
	}
	m.branches[op] = blocks
}

// AddBlockArg appends an argument to a block.
func (m *Module) AddBlockArg(b BlockID, t TypeID) ValueID {
	v := m.newValue(valueRow{typ: t, block: b, index: int32(len(m.blocks[b].args))})
	m.blocks[b].args = append(m.blocks[b].args, v)
	return v
}

func (m *Module) newValue(row valueRow) ValueID {
	m.values = append(grown(m.values), row)
	return ValueID(len(m.values) - 1)
}

// FuncSpec says what AddFunc makes. Arguments without attributes may leave ArgAttrs nil.
type FuncSpec struct {
	Name          string
	Visibility    string
	Args, Results []TypeID
	ArgAttrs      []Attrs
	ResultAttrs   []Attrs
	Attrs         Attrs
	Loc           LocID
	Declaration   bool    // no body
	In            BlockID // the body of a module inside this one; 0 for the body of this one
}

// AddFunc appends a function with an empty entry block to the module.
func (m *Module) AddFunc(s FuncSpec) FuncID {
	regions := 1
	op := m.newOp(OpFunc, nil, nil, s.Attrs, regions, s.Loc)
	m.appendOp(max(s.In, m.Body()), op)
	f := Func{Op: op, Name: s.Name, Visibility: s.Visibility, ResultTypes: s.Results,
		ArgAttrs: s.ArgAttrs, ResultAttrs: s.ResultAttrs, ResultShardings: make([]ShardingID, len(s.Results))}
	if f.ArgAttrs == nil {
		f.ArgAttrs = make([]Attrs, len(s.Args))
	}
	if f.ResultAttrs == nil {
		f.ResultAttrs = make([]Attrs, len(s.Results))
	}
	f.Body = m.newBlock(m.Regions(op)[0])
	if s.Declaration {
		m.regions[m.Regions(op)[0]].blocks = nil
	}
	for _, t := range s.Args {
		m.AddBlockArg(f.Body, t)
	}
	m.funcs = append(m.funcs, f)
	id := FuncID(len(m.funcs) - 1)
	m.funcOf[op] = id
	return id
}

// Func returns the record of a function, which may be changed in place.
func (m *Module) Func(id FuncID) *Func { return &m.funcs[id] }

// IsDeclaration says whether the function has no body.
func (m *Module) IsDeclaration(id FuncID) bool {
	return len(m.regions[m.Regions(m.funcs[id].Op)[0]].blocks) == 0
}

// FuncOf returns the function that an OpFunc defines, 0 for other ops.
func (m *Module) FuncOf(op OpID) FuncID {
	if m.ops[op].kind != OpFunc { // what passes ask about every op
		return 0
	}
	return m.funcOf[op]
}

// LookupFunc returns the function of that name.
func (m *Module) LookupFunc(name string) (FuncID, bool) {
	for op := range m.Ops(m.Body()) {
		if id := m.funcOf[op]; id != 0 && m.funcs[id].Name == name {
			return id, true
		}
	}
	return 0, false
}

// Main returns the entry function: the one named main, or the only one.
func (m *Module) Main() (FuncID, bool) {
	if id, ok := m.LookupFunc("main"); ok {
		return id, true
	}
	var only FuncID
	for op := range m.Ops(m.Body()) {
		if id := m.funcOf[op]; id != 0 {
			if only != 0 {
				return 0, false
			}
			only = id
		}
	}
	return only, only != 0
}

// MainFunc returns the main function of a module that has one.
func (m *Module) MainFunc() *Func {
	main, _ := m.Main()
	return m.Func(main)
}

// AddMesh appends a mesh. A named one gets an op at the end of the module's leading meshes; an inlined one
// (name "") is interned and gets none.
func (m *Module) AddMesh(name string, mesh subaxis.Mesh, attrs Attrs, loc LocID) MeshID {
	text := (&MeshDecl{Mesh: mesh}).FormatContent()
	if name == "" {
		for _, id := range m.meshByText[text] {
			if m.meshes[id].Name == "" && m.meshes[id].Equal(&mesh) {
				return id
			}
		}
	}
	m.meshes = append(m.meshes, MeshDecl{Mesh: mesh, Name: name})
	id := MeshID(len(m.meshes) - 1)
	m.meshByText[text] = append(m.meshByText[text], id)
	if name != "" {
		op := m.newOp(OpMesh, nil, nil, attrs, 0, loc)
		m.meshes[id].Op = op
		m.meshOf[op] = id
		m.insertMesh(op)
	}
	return id
}

func (m *Module) insertMesh(op OpID) {
	last := m.lastMesh
	if row := &m.ops[last]; last == 0 || row.block != m.Body() || row.prev != 0 && m.Kind(row.prev) != OpMesh {
		last = 0
	}
	for next := m.nextOrFirst(last); next != 0 && m.Kind(next) == OpMesh; next = m.nextOrFirst(last) {
		last = next
	}
	m.insertAfter(m.Body(), last, op)
	m.lastMesh = op
}

// nextOrFirst returns the op of the module's body behind another one, the first for 0.
func (m *Module) nextOrFirst(op OpID) OpID {
	if op == 0 {
		return m.FirstOp(m.Body())
	}
	return m.NextOp(op)
}

// Mesh returns a mesh of the module.
func (m *Module) Mesh(id MeshID) *MeshDecl { return &m.meshes[id] }

// NumMeshes bounds the mesh ids in use.
func (m *Module) NumMeshes() int { return len(m.meshes) }

// MeshOf returns the mesh that an OpMesh declares.
func (m *Module) MeshOf(op OpID) MeshID {
	return m.meshOf[op]
}

// LookupMesh returns the mesh of that name.
func (m *Module) LookupMesh(name string) (MeshID, bool) {
	for i := range m.meshes[1:] {
		if m.meshes[i+1].Name == name {
			return MeshID(i + 1), true
		}
	}
	return 0, false
}
