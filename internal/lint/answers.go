package lint

import "autoshard/internal/diag"

// The rules of what an answer, a plan or a propagation, does not keep or does not know. The answer carries such findings;
// check cannot have them.
const (
	BoundarySharding    diag.Code = "boundary-sharding"
	BranchPrice         diag.Code = "branch-price"
	CoarseSearch        diag.Code = "coarse-search"
	CommonMesh          diag.Code = "common-mesh"
	CostOverTaste       diag.Code = "cost-over-taste"
	DeviceOrder         diag.Code = "device-order"
	FreeManualAxis      diag.Code = "free-manual-axis"
	GatheredOperand     diag.Code = "gathered-operand"
	HostCompute         diag.Code = "host-compute"
	HostMemory          diag.Code = "host-memory"
	LoopPrice           diag.Code = "loop-price"
	NoBound             diag.Code = "no-bound"
	PlatformChoice      diag.Code = "platform-choice"
	PropagationBarrier  diag.Code = "propagation-barrier"
	SearchMemory        diag.Code = "search-memory"
	SeparateCollectives diag.Code = "separate-collectives"
	ShardingGroup       diag.Code = "sharding-group"
	ShardingPriority    diag.Code = "sharding-priority"
	SingleDevice        diag.Code = "single-device"
	UnnamedMesh         diag.Code = "unnamed-mesh"
	UnreadOp            diag.Code = "unread-op"
	UnreducedSharding   diag.Code = "unreduced-sharding"
	WholeOp             diag.Code = "whole-op"

	// Rules of check that answers have too, with what they did about it.
	UnevenSharding       diag.Code = "uneven-sharding"
	IndivisibleDimension diag.Code = "indivisible-dimension"
)

// Answers describes the rules that only plans and propagations have, in the order of their names.
func Answers() []diag.Rule { return answers }

var answers = []diag.Rule{
	{ID: BoundarySharding, Severity: diag.SeverityWarning, Name: "propagation found more for an input or output than the program keeps",
		Text: "Inputs and outputs take whole axes that divide their dimensions, as Shardy has it: other programs call this one. The message " +
			"says " +
			"what was found, what is kept, and why; `explain` shows where it came from. Plans may keep parts of axes."},
	{ID: BranchPrice, Severity: diag.SeverityWarning, Name: "one of several branches runs, which the price does not know",
		Text: "The time of a branch is that of its slowest region, and the collectives of all regions count. A step can be cheaper."},
	{ID: CoarseSearch, Severity: diag.SeverityWarning, Name: "the search left out ways to cut the model",
		Text: "There were too many of them, or time or steps are limited: parts of axes, axes apart from each other, or axes as one. The " +
			"message says which; the lower bound is proved all the same."},
	{ID: CommonMesh, Severity: diag.SeverityWarning, Name: "the model names its devices by several meshes",
		Text: "Plans are over one mesh, of whose axes those of all the others consist. The message says which, and what axes have become " +
			"whose names are others there. Pins and outputs name axes of that mesh."},
	{ID: CostOverTaste, Severity: diag.SeverityWarning, Name: "inputs that people would cut alike are cut differently, because it is faster",
		Text: "A plan cuts inputs of one batch, equal layers, and a parameter and its state alike where that costs next to nothing " +
			"(`--taste`). The message says what it would cost."},
	{ID: DeviceOrder, Severity: diag.SeverityWarning, Name: "the order of a mesh's devices makes collectives slower",
		Text: "Groups along an axis have devices that the network does not put next to each other. The message says how much longer a gather " +
			"takes, and prices count on it. Device i of the network is the one with number i: list devices so that axes that send most lie " +
			"within a node, or along an axis of the torus."},
	{ID: FreeManualAxis, Severity: diag.SeverityWarning, Name: "axes that a manual computation leaves free are not used in it",
		Text: "No sharding of the user reaches its body along them, so that all devices along them compute it alike. Shard what goes in, or " +
			"make the axes manual."},
	{ID: GatheredOperand, Severity: diag.SeverityWarning, Name: "an operand is gathered because its operation cannot be computed on blocks",
		Text: "It lies in blocks along a dimension that the operation needs whole. The message says which, along which axes, what every device " +
			"receives for it in a step, and why. Where the value is cut along another dimension, it need not be."},
	{ID: HostCompute, Severity: diag.SeverityWarning, Name: "what the model computes on the host counts as computed by devices",
		Text: "JAX's `compute_on` leaves operations to the processor beside a device. Plans and runs know devices only: such operations are " +
			"cut, priced and run like all others."},
	{ID: HostMemory, Severity: diag.SeverityWarning, Name: "what the model keeps in memory of the host counts as held by devices",
		Text: "JAX's memory kinds, such as `pinned_host`, move values out of devices and back. Plans and runs know one memory: the peak is " +
			"what devices would hold with all of it, and copies between host and device cost nothing."},
	{ID: LoopPrice, Severity: diag.SeverityWarning, Name: "the data decides how often a loop runs",
		Text: "Its iterations are counted where a counter goes from a constant to a constant. Otherwise one is priced, or as many as " +
			"`--trip-count`, " +
			"or the attribute `autoshard.trip_count` of the loop, says."},
	{ID: NoBound, Severity: diag.SeverityWarning, Name: "how good the plan is, is not known",
		Text: "A loop reads a value from outside instead of carrying it, and the program moves the value before the loop, once. The lower " +
			"bound is about programs that do so in every iteration. Let the loop carry the value, as JAX writes loops, to have one."},
	{ID: PlatformChoice, Severity: diag.SeverityWarning, Name: "the model is for several platforms, one was chosen",
		Text: "Without `--platform` it is the first that calls nothing of other hardware. The branches of the others are not in the plan."},
	{ID: PropagationBarrier, Severity: diag.SeverityWarning, Name: "propagation barriers do not bind a plan",
		Text: "Propagation passes an `sdy.propagation_barrier` in the direction that it allows. A plan chooses by cost on both sides; " +
			"constrain a value to keep it as it is."},
	{ID: SearchMemory, Severity: diag.SeverityWarning, Name: "the search left out what takes too much memory",
		Text: "An account of what problems and searches take is kept below `--search-memory`. The message says what was left out and what " +
			"it needs; the plan is never worse than the best baseline that fits, and the lower bound is proved all the same."},
	{ID: SeparateCollectives, Severity: diag.SeverityWarning, Name: "collectives are sent one by one, because the hardware profile says so",
		Text: "Collectives of one kind over the same axes are sent as one where that saves what they take to begin. The profile says " +
			"`arrays: 1`: each array of a collective takes as long to begin as the first, as on devices that are simulated on one host."},
	{ID: ShardingGroup, Severity: diag.SeverityWarning, Name: "sharding groups do not bind a plan",
		Text: "Propagation gives the values of an `sdy.sharding_group` one sharding. A plan chooses for each; constrain them where they must " +
			"be alike."},
	{ID: ShardingPriority, Severity: diag.SeverityWarning, Name: "user priorities do not order a plan",
		Text: "Propagation follows them round by round. A plan keeps all shardings that are written, and chooses the rest by cost."},
	{ID: SingleDevice, Severity: diag.SeverityWarning, Name: "what the model places on one device is whole on each",
		Text: "All devices of a plan run one program. The device that is named has the value, too; the others compute and hold it as well. Cut " +
			"it along the axes of the mesh if it is large."},
	{ID: UnnamedMesh, Severity: diag.SeverityWarning, Name: "the model's shardings are over a mesh without names",
		Text: "GSPMD writes which device holds which block, and no axes. Shardings are read over as few axes as all of them need, axis_0, " +
			"axis_1 and so on; the message says which. With `--mesh` they are over axes with names, such as data=4,model=2."},
	{ID: UnreadOp, Severity: diag.SeverityWarning, Name: "what nothing reads is not in the plan",
		Text: "Nothing reads the result of a collective or of a sharding constraint. Such a collective is not run. Such a constraint counts " +
			"for the value that it is on if that has no other sharding, else for nothing: read the result of the constraint instead of " +
			"the value."},
	{ID: UnreducedSharding, Severity: diag.SeverityWarning, Name: "partial sums that are written are summed up",
		Text: "A plan keeps partial values between operations where that is cheapest, but not at a value that the user pins as unreduced."},
	{ID: WholeOp, Severity: diag.SeverityWarning, Name: "an operation that every device computes alike",
		Text: "No sharding rule says how to cut it, or the rule leaves no dimension to cut. Operands that lie in blocks are gathered first " +
			"(`gathered-operand`). A custom operation can be given a rule: `--rule 'NAME: (a b) -> (a b)'`."},
}
