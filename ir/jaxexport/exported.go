package jaxexport

// Exported is the content of a file (specification: bytecode.md sections C.2 and C.3).
type Exported struct {
	SerializationVersion    uint16
	FunctionName            string
	InTree, OutTree         *Tree // of (args, kwargs): a tuple of a tuple and a dictionary; of the results
	Platforms               []string
	OrderedEffects          []Effect
	UnorderedEffects        []Effect
	DisabledChecks          []DisabledCheck
	Module                  []byte // a portable artifact
	ModuleAt                int    // its offset in the file, 0 for that of a derivative
	CallingConvention       uint16
	KeptInputs              []uint16 // which flat inputs the module's function takes, ascending
	UsesGlobalConstants     bool
	VJP                     *Exported // the derivative
	Devices                 uint32
	JAXVersion              string
	InAvals, OutAvals       []Aval      // one for each leaf
	InShardings             []*Sharding // one for each leaf, nil for unspecified ones
	OutShardings            []*Sharding
	UniqueAvals             []Aval
	UniqueMeshes            []Mesh
	UniqueShardings         []Sharding
	InAvalIDs, OutAvalIDs   []uint32 // into UniqueAvals
	InShardingIDs           []uint32 // 0 or one more than the index into UniqueShardings
	OutShardingIDs          []uint32
	oldDevices              int16 // of versions before 5
	oldInAvals, oldOutAvals []Aval
	oldIn, oldOut           []oldSharding
}

// TreeKind is the kind of a node of a tree.
type TreeKind uint8

// The kinds of nodes.
const (
	Leaf TreeKind = iota
	None
	Tuple
	List
	Dict
	Custom
)

// Tree is a tree of arguments or results.
type Tree struct {
	Kind     TreeKind
	Children []*Tree
	Names    []string // keys of a dictionary, sorted, in the order of the children
	Custom   string   // name of a node that users registered
	AuxData  []byte   // what such a node keeps beside its children
}

// Aval is the abstract value of a leaf.
type Aval struct {
	Kind        uint8
	Shape       []string // numbers or symbolic expressions
	DType       uint8
	MemorySpace uint8
}

// Sharding is the layout of a leaf over a mesh as JAX's NamedSharding.
type Sharding struct {
	Mesh       *Mesh
	Spec       *Spec
	MemoryKind string // "" for none
	MeshID     uint32 // into UniqueMeshes
}

// Spec is a PartitionSpec.
type Spec struct {
	Partitions         []Partition // perhaps fewer than dimensions: the rest is not sharded
	Reduced, Unreduced []string
}

// Partition are the axes that shard one dimension, major to minor.
type Partition struct{ Axes []string }

// Mesh is an AbstractMesh.
type Mesh struct {
	Sizes  []uint32
	Names  []string
	Types  []uint8 // 1 auto, 2 explicit, 3 manual
	Device *Device // nil for none
}

// Device is the kind of device that a mesh has.
type Device struct {
	Kind     string
	Cores    *uint32
	Platform string
}

// Effect is an effect of the function, by the name of its class.
type Effect struct{ Type string }

// DisabledCheck is a safety check that the exporter turned off.
type DisabledCheck struct {
	Kind   uint8  // 0 platform, 1 custom call, 2 shape assertions
	Target string // of a custom call
}

// oldSharding is how versions before 10 say the sharding of a leaf.
type oldSharding struct {
	kind  uint8
	proto []byte
	named *Sharding
}

func (e *Exported) fields(f fields) {
	f.number(0, &e.SerializationVersion)
	f.str(1, &e.FunctionName)
	table(f, 2, &e.InTree)
	tables(f, 3, &e.oldInAvals)
	table(f, 4, &e.OutTree)
	tables(f, 5, &e.oldOutAvals)
	f.number(6, &e.oldDevices)
	tables(f, 7, &e.oldIn)
	tables(f, 8, &e.oldOut)
	f.strs(9, &e.Platforms)
	tables(f, 10, &e.OrderedEffects)
	tables(f, 11, &e.UnorderedEffects)
	tables(f, 12, &e.DisabledChecks)
	f.bytes(13, &e.Module)
	f.number(14, &e.CallingConvention)
	f.uint16s(15, &e.KeptInputs)
	f.number(16, &e.UsesGlobalConstants)
	table(f, 17, &e.VJP)
	f.number(18, &e.Devices)
	tables(f, 19, &e.UniqueAvals)
	tables(f, 20, &e.UniqueMeshes)
	tables(f, 21, &e.UniqueShardings)
	f.uint32s(22, &e.InAvalIDs)
	f.uint32s(23, &e.OutAvalIDs)
	f.uint32s(24, &e.InShardingIDs)
	f.uint32s(25, &e.OutShardingIDs)
	f.str(26, &e.JAXVersion)
}

func (t *Tree) fields(f fields) {
	f.number(0, (*uint8)(&t.Kind))
	pointers(f, 1, &t.Children)
	f.strs(2, &t.Names)
	f.str(3, &t.Custom)
	f.bytes(4, &t.AuxData)
}

func (a *Aval) fields(f fields) {
	f.number(0, &a.Kind)
	f.strs(1, &a.Shape)
	f.number(2, &a.DType)
	f.number(3, &a.MemorySpace)
}

func (s *oldSharding) fields(f fields) {
	f.number(0, &s.kind)
	f.bytes(1, &s.proto)
	table(f, 2, &s.named)
}

func (s *Sharding) fields(f fields) {
	table(f, 0, &s.Mesh)
	table(f, 1, &s.Spec)
	f.str(2, &s.MemoryKind)
	f.number(3, &s.MeshID)
}

func (s *Spec) fields(f fields) {
	tables(f, 0, &s.Partitions)
	f.strs(1, &s.Reduced)
	f.strs(2, &s.Unreduced)
}

func (p *Partition) fields(f fields) { f.strs(0, &p.Axes) }

func (m *Mesh) fields(f fields) {
	f.uint32s(0, &m.Sizes)
	f.strs(1, &m.Names)
	f.uint8s(2, &m.Types)
	table(f, 3, &m.Device)
}

func (d *Device) fields(f fields) {
	f.str(0, &d.Kind)
	f.optionalUint32(1, &d.Cores)
	f.str(2, &d.Platform)
}

func (e *Effect) fields(f fields) { f.str(0, &e.Type) }

func (c *DisabledCheck) fields(f fields) {
	f.number(0, &c.Kind)
	f.str(1, &c.Target)
}

// DTypes are the names of the codes of element types, as MLIR and JAX spell them.
var DTypes = []string{"bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64", "c64", "c128", "bf16",
	"i4", "ui4", "f8_e4m3b11fnuz", "f8_e4m3fn", "f8_e4m3fnuz", "f8_e5m2", "f8_e5m2fnuz", "float0", "f8_e4m3", "f8_e3m4",
	"f8_e8m0fnu", "f4_e2m1fn", "key_fry", "key_rbg", "key_unsafe_rbg"}
