package lint

import "autoshard/internal/diag"

// The rules of shard_map programs: what sends more than it has to. Package shardmap/advice finds the ones that are rewritten; the types of
// a program say the others.
const (
	GatherInLoop    diag.Code = "gather-in-loop"
	GatherOfOutput  diag.Code = "gather-of-output"
	PsumOfInvariant diag.Code = "psum-of-invariant"
	PsumThenSlice   diag.Code = "psum-then-slice"
	SerialProduct   diag.Code = "serial-product"
)

// Programs returns the rules of shard_map programs in the order of their names.
func Programs() []Rule { return programs }

var programs = []Rule{
	{
		Name:    string(GatherInLoop),
		Summary: "a collective does the same in every iteration of a loop",
		Text: "What it reads does not change in the loop. Before the loop it is sent once; its result is held while the loop runs. " +
			"`check --fix` moves it there.",
		Example: `shard_map @steps mesh=(i=4,)
  in_specs=(P('i', None), P())
  out_specs=(P(),)
lambda w:f32[2,8] x:f32[8]
  y:f32[8] = scan[carries=1, length=10, reverse=false] x {
  lambda carry:f32[8]
    whole:f32[8,8] = all_gather_invariant[axes=(i,), dim=0] w
    next:f32[8] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] whole carry
    return next
  }
  return y
`,
	},
	{
		Name:    string(GatherOfOutput),
		Summary: "an output is gathered only to be whole on every device",
		Text: "Nothing else reads it. An output whose spec names the axes is the same array, cut, and nothing is sent. " +
			"`check --fix` writes them into out_specs; callers that need it on every device gather it when they do.",
		Example: `shard_map @double mesh=(i=4,)
  in_specs=(P('i'),)
  out_specs=(P(),)
lambda x:f32[2]
  y:f32[2] = add x x
  whole:f32[8] = all_gather_invariant[axes=(i,), dim=0] y
  return whole
`,
	},
	{
		Name:    string(PsumOfInvariant),
		Summary: "a sum of a value that is equal on all devices",
		Text:    "It is the value times the number of devices. Multiply, or leave the sum out where it was to make the value equal.",
		Example: `shard_map @twice mesh=(i=4,)
  in_specs=(P(),)
  out_specs=(P(),)
lambda x:f32[2]
  y:f32[2] = psum[axes=(i,)] x
  return y
`,
	},
	{
		Name:    string(PsumThenSlice),
		Summary: "of a sum, every device keeps its own part only",
		Text: "A psum_scatter sends half of what the psum does, and no device holds the whole sum. `check --fix` puts it there; sums may be " +
			"rounded otherwise.",
		Example: `shard_map @scattered mesh=(i=4,)
  in_specs=(P(None, 'i'),)
  out_specs=(P('i'),)
lambda x:f32[8,2]
  zero:f32[] = constant[value=dense<0.0>]
  rows:f32[8] = reduce[dimensions=(1,)] x zero {
  lambda a:f32[] b:f32[]
    c:f32[] = add a b
    return c
  }
  sum:f32[8] = psum[axes=(i,)] rows
  k:i32[] = axis_index[axes=(i,)]
  two:i32[] = constant[value=dense<2>]
  start:i32[] = multiply k two
  y:f32[2] = dynamic_slice[slice_sizes=(2,)] sum start
  return y
`,
	},
	{
		Name:    string(SerialProduct),
		Summary: "a product waits for a collective that could run beside it",
		Text: "The devices multiply, then they sum, or gather first and multiply then. Cut into chunks that walk round the devices, one " +
			"chunk is sent while another one is multiplied: a collective matmul. It saves time where the hardware does both at once, and " +
			"products are large. `check --fix` writes the ring; sums may be rounded otherwise.",
		Example: `shard_map @layer mesh=(i=2,)
  in_specs=(P(None, 'i'), P('i', None))
  out_specs=(P('i', None),)
lambda x:bf16[8192,4096] w:bf16[4096,8192]
  terms:bf16[8192,8192] = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] x w
  y:bf16[4096,8192] = psum_scatter[axes=(i,), dim=0] terms
  return y
`,
	},
}
