// Package autoshard propagates, chooses, lowers, runs and proves shardings of large models over device meshes.
//
// It is the façade that the command line and the service share; every step takes values and returns values:
//
//	model, err := autoshard.ReadModel(ctx, "train.mlir", src)
//	plan, err := autoshard.MakePlan(ctx, model, autoshard.PlanOptions{Mesh: axes})
//	program, err := plan.Lowered(ctx)
//	check, err := program.Verify(ctx, inputs, expected, autoshard.Tolerance{Rel: 1e-4})
//	python, err := program.Emit(ctx, "jax")
//
// A [Model] is what a user hands in, a [Plan] what the user gets: chosen shardings, collectives, predicted times and a
// certificate. Its [Program] is what every device runs; texts of shard_map programs are read to one too ([ReadShardMap]).
// All are text at rest, so that any step can start from a file.
//
// Errors are of the classes of this package ([ErrInvalid] and the following), which errors.Is finds, or the context's, and
// have [Diagnostics].
package autoshard

import (
	"context"
	"errors"

	"autoshard/answer"
	"autoshard/blocks"
	"autoshard/explain"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/plan"
	"autoshard/pricing"
	"autoshard/program"
	"autoshard/resharding"
)

// What plans, propagations and explanations hold.
type (
	// Plan is the answer to a planning request. Its JSON form is plan.json; times are in seconds, sizes in bytes.
	Plan = plan.Plan
	// PlanOptions says what to plan for.
	PlanOptions = plan.Options
	// Session is a model that is planned again and again while shardings of its inputs and outputs change.
	Session = plan.Session
	// Pin is the sharding that inputs and outputs are to have.
	Pin = plan.Pin
	// Forbid keeps axes away from inputs and outputs.
	Forbid = plan.Forbid
	// Budget is the most bytes that collectives of a step may send.
	Budget = plan.Budget
	// TripCount says how often a loop is taken to run whose end the data decides.
	TripCount = plan.TripCount
	// Progress is a report of long work.
	Progress = plan.Progress
	// MeshAxis is a named axis of a mesh.
	MeshAxis = answer.MeshAxis
	// Tensor is an input or output, as a plan or propagation cuts it.
	Tensor = answer.Tensor
	// Difference says in what two plans differ.
	Difference = plan.Difference
	// PlanChange is an option of two plans, in a Difference.
	PlanChange = plan.Change
	// PlanFigure is a prediction of two plans.
	PlanFigure = plan.Figure
	// TrafficPair is what collectives of one kind over the same axes send in two plans.
	TrafficPair = plan.TrafficPair
	// ValuePair is an input or output of two plans.
	ValuePair = plan.ValuePair
	// AuditPoint is one thing that was worked out again, in a PlanAudit.
	AuditPoint = plan.Point
	// PlanAudit is what was found by working out again what a plan says.
	PlanAudit = plan.Audit
	// PlanEvidence is what a plan is worked out from again, for [Plan.Check].
	PlanEvidence = plan.Evidence
	// Weighing says how else a value of a plan could be cut, for [Session.Weigh].
	Weighing = plan.Weighing
	// Decisions are those of a plan that matter most, for [Session.Decisions].
	Decisions = plan.Decisions
	// Decision is how inputs of a plan that are alike are cut, one of [Decisions].
	Decision = plan.Decision
	// PlanRequest says what a plan was made for and how.
	PlanRequest = plan.Request
	// ModelRequest says which program that was.
	ModelRequest = answer.Given
	// Hashes tell whether a plan, and what it was made from, are as they were.
	Hashes = plan.Hashes
	// Constraint is a sharding that the user wrote inside a program, as a plan keeps it.
	Constraint = plan.Constraint
	// Timeline sums up a simulated step in which collectives run beside other ops.
	Timeline = plan.Timeline
	// LinkBusy is how long links are busy in it.
	LinkBusy = program.LinkBusy
	// Collective is one communication of a plan's program.
	Collective = plan.Collective
	// Estimate is the predicted cost of one step on one device.
	Estimate = program.Estimate
	// Baseline is a plan that needs no search, for comparison.
	Baseline = plan.Baseline
	// Gain is what a rewrite of a plan's program saves.
	Gain = plan.Gain
	// Recomputed is a value that the program of a plan makes again instead of holding it.
	Recomputed = plan.Recomputed
	// Merging is what is gained by sending collectives as one.
	Merging = plan.Merging
	// TriedMesh is a mesh on which a plan was looked for.
	TriedMesh = plan.TriedMesh
	// Certificate says how good a plan is.
	Certificate = plan.Certificate
	// Finding is something that a user should know about an answer.
	Finding = answer.Finding
	// Program is what every device of a mesh runs: that of a plan, or a shard_map program.
	Program = program.Program
	// Interpreter runs a model as one device does that sees whole tensors.
	Interpreter = program.Interpreter
	// RunOptions says what is looked at while a program runs.
	RunOptions = program.RunOptions
	// Profile says what a run took.
	Profile = program.Profile
	// RunResult is what a run gives: whole outputs, and the bytes that each collective moved.
	RunResult = program.Result
	// Check is the result of running a program and comparing it.
	Check = program.Check
	// OutputCheck compares one output.
	OutputCheck = program.OutputCheck
	// CollectiveCheck compares predicted and counted bytes of one collective.
	CollectiveCheck = program.CollectiveCheck
	// Tolerance is what results of other systems may differ by, beside what rounding explains.
	Tolerance = program.Tolerance
	// PropagateOptions says how to propagate.
	PropagateOptions = explain.Options
	// TraceFilter says which steps the trace of a propagation has.
	TraceFilter = explain.Filter
	// Propagation is a model with the shardings that follow from the user's, and how they came about.
	Propagation = explain.Propagation
	// ExplainOptions says what to explain.
	ExplainOptions = explain.Question
	// Explanation says why a value is sharded as it is.
	Explanation = explain.Explanation
	// DimReason explains one dimension.
	DimReason = explain.DimReason
	// Derivative is a program that is made of another one and some of its inputs.
	Derivative = program.Derivative
	// Communication says what a program sends, and what a step of it takes.
	Communication = program.Communication
	// Watched is a run, with what devices held of some values.
	Watched = program.Watched
	// BlocksRequest asks which device holds which block of a tensor.
	BlocksRequest = blocks.Request
	// Blocks is the answer.
	Blocks = blocks.Answer
	// ReshardRequest asks for a way between two shardings of a tensor.
	ReshardRequest = resharding.Request
	// Resharding is the cheapest way.
	Resharding = resharding.Answer
	// PriceSetting is what questions of prices have in common: mesh, hardware, sizes, conventions.
	PriceSetting = pricing.Setting
	// MatmulRequest asks for the ways to compute a sharded product.
	MatmulRequest = pricing.MatmulRequest
	// MatmulPrices are all ways, with what each takes.
	MatmulPrices = pricing.MatmulAnswer
	// SweepRequest asks for them while a size changes.
	SweepRequest = pricing.SweepRequest
	// SweepPrices says which way is the fastest for which sizes.
	SweepPrices = pricing.SweepAnswer
	// CollectiveRequest asks what a communication takes.
	CollectiveRequest = pricing.CollectiveRequest
	// CollectivePrice is what it takes.
	CollectivePrice = pricing.CollectiveAnswer
	// ArrayRequest asks what a sharded array takes.
	ArrayRequest = pricing.ArrayRequest
	// ArraySize is what each device holds of it.
	ArraySize = pricing.ArrayAnswer
	// MoveRequest asks for the way of an array from one sharding to another, in the book's notation.
	MoveRequest = pricing.ReshardRequest
	// Explainer answers many questions about one propagation.
	Explainer = explain.Explainer
)

// The derivatives that [Program.Derive] makes.
const (
	Transpose = program.Transpose
	JVP       = program.JVP
	VJP       = program.VJP
	Gradient  = program.Gradient
)

// PlanSchema identifies the JSON form of a Plan.
const PlanSchema = plan.Schema

// MaxTripCount bounds the trip counts that can be asked for.
const MaxTripCount = plan.MaxTripCount

// DefaultSearchMemory is the most bytes that planning holds where nothing else is asked for.
const DefaultSearchMemory = plan.DefaultSearchMemory

// ErrEnough, as the cause of a context's cancellation, asks [MakePlan] for the best plan so far, as a deadline does.
var ErrEnough = plan.ErrEnough

// MakePlan chooses shardings for a model. What the user wrote is kept: closed dimensions exactly, open ones at least
// as written. It fails with diag.ErrInfeasible where the memory limit is too small, naming the smallest that works.
//
// Where the context's deadline comes, or it is cancelled with the cause [ErrEnough], the plan is the best so far: never
// worse than the best baseline that fits, for which the baselines are worked out in any case. It fails with the
// context's error where none fits, and at once where the context is cancelled otherwise.
func MakePlan(ctx context.Context, model *Model, o PlanOptions) (p *Plan, err error) {
	defer diag.Recover("plan", &err)
	return plan.Make(ctx, model.source(), o)
}

// NewSession makes a plan as [MakePlan] does, and keeps what makes the next plans of the model fast: [Session.Plan] makes one with
// some shardings changed.
func NewSession(ctx context.Context, model *Model, o PlanOptions) (s *Session, p *Plan, err error) {
	defer diag.Recover("plan", &err)
	return plan.NewSession(ctx, model.source(), o)
}

// PlanAsAnnotated returns a plan of a model with the shardings that its user wrote and what follows from them: nothing is searched, and
// no memory limit counts. It is the baseline "annotations only" of [MakePlan], and fails as that does, but never with
// diag.ErrInfeasible.
func PlanAsAnnotated(ctx context.Context, model *Model, o PlanOptions) (p *Plan, err error) {
	defer diag.Recover("plan", &err)
	return plan.AsAnnotated(ctx, model.source(), o)
}

// ReadPlan reads plan.json. Errors are located and of class ErrInvalid, or the context's.
func ReadPlan(ctx context.Context, file string, src []byte) (*Plan, error) {
	return plan.Read(ctx, file, src)
}

// ParsePin reads a pin: w1=P(None, 'model'). The text up to the first = is the name. Errors are of class ErrInvalid.
func ParsePin(text string) (Pin, error) { return plan.ParsePin(text) }

// ParseForbid reads what is forbidden: embed: data,model. Errors are of class ErrInvalid.
func ParseForbid(text string) (Forbid, error) { return plan.ParseForbid(text) }

// ParseBudget reads a budget: all_gather<=64MiB, all_reduce: data,model<=1GiB, sent<=100MB/device. Errors are of class ErrInvalid.
func ParseBudget(text string) (Budget, error) { return plan.ParseBudget(text) }

// DiffPlans compares two plans, of one model or of two.
func DiffPlans(before, after *Plan) *Difference { return plan.Diff(before, after) }

// HashText returns the hash that plans have of a model's text, unpacked.
func HashText(src []byte) string { return answer.Hash(src) }

// ReadProgram reads what can be run: plan.json, the text of a shard_map program, or MLIR with manual computations; the content decides.
// Where the function main does more than one manual computation, the program is that of [PlanAsAnnotated]. File names the source in errors,
// which are located and of class ErrInvalid, ErrTooLarge or ErrUnsupported, or the context's.
func ReadProgram(ctx context.Context, file string, src []byte) (*Program, error) {
	if program.IsShardMap(src) || program.IsManualComputation(src) {
		p, err := program.ReadShardMap(ctx, file, src)
		if errors.Is(err, ErrUnsupported) && !program.IsShardMap(src) {
			return readAnnotated(ctx, file, src)
		}
		return p, err
	}
	p, err := plan.Read(ctx, file, src)
	if err != nil {
		return nil, err
	}
	return p.Lowered(ctx)
}

// ReadProgramUnchecked is [ReadProgram] for a shard_map program whose check is off, as JAX has it with check_vma=False, also where its text
// says that it is on and would be refused.
func ReadProgramUnchecked(ctx context.Context, file string, src []byte) (*Program, error) {
	if program.IsShardMap(src) {
		return program.ReadUnchecked(ctx, file, src)
	}
	p, err := ReadProgram(ctx, file, src)
	if err != nil {
		return nil, err
	}
	return p.WithoutCheck(ctx)
}

// readAnnotated returns the program of a model around manual computations.
func readAnnotated(ctx context.Context, file string, src []byte) (*Program, error) {
	model, err := ReadModel(ctx, file, src)
	if err != nil {
		return nil, err
	}
	p, err := PlanAsAnnotated(ctx, model, PlanOptions{})
	if err != nil {
		return nil, err
	}
	out, err := p.Lowered(ctx)
	if err == nil {
		out.From(model.module)
		out.Notes = append(out.Notes, "the model is more than one shard_map: all of it is cut as its shardings say")
		for i := range p.Findings {
			if p.Findings[i].Code == string(lint.CommonMesh) {
				out.Notes = append(out.Notes, p.Findings[i].Message)
			}
		}
	}
	return out, err
}

// ReadShardMap reads a shard_map program and checks its types, or finds them and inserts the casts where the text gives none.
// The text is that of emit, or MLIR whose function main is one manual computation, as JAX exports a shard_map. Errors
// are like those of [ReadProgram].
func ReadShardMap(ctx context.Context, file string, src []byte) (*Program, error) {
	return program.ReadShardMap(ctx, file, src)
}

// IsShardMap says whether a text is a shard_map program: its first word, behind comments, is shard_map.
func IsShardMap(src []byte) bool { return program.IsShardMap(src) }

// IsManualComputation says whether a program is MLIR with a manual computation, as JAX exports a shard_map.
func IsManualComputation(src []byte) bool { return program.IsManualComputation(src) }

// DefaultAhead is how many places before its own a collective may start in the simulated step of [Program.Breakdown].
const DefaultAhead = program.DefaultAhead

// EmitForms returns the names of the forms that [Program.Emit] writes.
func EmitForms() []string { return program.Forms() }

// Stages returns the names of the forms that [Program.Stage] writes.
func Stages() []string { return program.Stages() }

// Propagate gives every value of a model the sharding that follows from the user's by Shardy's rules. Rounds of user
// priorities above MaxPriority do not run: their dimensions stay without axes. Work ends with the context, whose error is
// the answer then.
func Propagate(ctx context.Context, model *Model, o PropagateOptions) (*Propagation, error) {
	return explain.Propagate(ctx, model.source(), o)
}

// Explain says why a value of a model is sharded as it is after propagation: step by step from what the user wrote.
// Unknown values and axes fail with diag.ErrInvalid.
func Explain(ctx context.Context, model *Model, o ExplainOptions) (*Explanation, error) {
	return explain.Explain(ctx, model.source(), o)
}

// NewExplainer propagates a model and keeps how that went. Work ends with the context, whose error is the answer then.
func NewExplainer(ctx context.Context, model *Model, o PropagateOptions) (*Explainer, error) {
	return explain.NewExplainer(ctx, model.source(), o)
}

// ShowBlocks returns which device holds which block of a tensor, from its sharding in the form of any system that [ConvertSpec] reads.
// Errors are of class ErrInvalid where the text is wrong, ErrUnsupported for manual axes, or ErrTooLarge.
func ShowBlocks(r *BlocksRequest) (a *Blocks, err error) {
	defer diag.Recover("show", &err)
	return blocks.Show(r)
}

// Reshard returns the cheapest sequence of collectives that brings a tensor from one sharding to another. Errors are of class ErrInvalid
// where the request is wrong, ErrUnsupported for blocks of unequal sizes and what no collective does, ErrInfeasible where every sequence
// takes more memory, naming the smallest limit that works, or the context's.
func Reshard(ctx context.Context, r *ReshardRequest) (a *Resharding, err error) {
	defer diag.Recover("reshard", &err)
	return resharding.Find(ctx, r)
}

// PriceMatmul returns the ways to compute a sharded product, written A[I_X, J] · B[J, K] -> C[I_X, K]: what each sends, how long it
// takes, and what bounds it. Errors are of class ErrInvalid or ErrTooLarge.
func PriceMatmul(r *MatmulRequest) (a *MatmulPrices, err error) {
	defer diag.Recover("estimate", &err)
	return pricing.Matmul(r)
}

// PriceSweep returns which way to compute a sharded product is the fastest while a size changes. Errors are of class ErrInvalid or
// ErrTooLarge.
func PriceSweep(r *SweepRequest) (a *SweepPrices, err error) {
	defer diag.Recover("estimate", &err)
	return pricing.Sweep(r)
}

// PriceCollective returns what a communication of a sharded array takes. Errors are of class ErrInvalid or ErrTooLarge.
func PriceCollective(r *CollectiveRequest) (a *CollectivePrice, err error) {
	defer diag.Recover("estimate", &err)
	return pricing.Collective(r)
}

// CollectiveKinds returns the communications that [PriceCollective] knows.
func CollectiveKinds() []string { return pricing.Kinds() }

// PriceArray returns what each device holds of a sharded array. Errors are of class ErrInvalid or ErrTooLarge.
func PriceArray(r *ArrayRequest) (a *ArraySize, err error) {
	defer diag.Recover("estimate", &err)
	return pricing.Array(r)
}

// PriceMove does what [Reshard] does for a question in the book's notation: A[I_X, J] -> A[I, J_X].
func PriceMove(ctx context.Context, r *MoveRequest) (a *Resharding, err error) {
	defer diag.Recover("estimate", &err)
	return pricing.Reshard(ctx, r)
}
