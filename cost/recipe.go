package cost

// recipe is a way to compute a product along one set of axes: the sides of the local product, and that of the result afterwards.
type recipe struct {
	name   string
	a, b   Side
	result Side
}

// recipes is the decision table of cost.md sections 3.1 and 3.2 for the axes on given sides of A and B. The move of every operand follows
// from its side before and in the local product.
var recipes = map[[2]Side][]recipe{
	{Nowhere, Nowhere}: {
		{"1", Nowhere, Nowhere, Nowhere}, {"1 slice A", OnI, Nowhere, OnI}, {"1 slice A, gather C", OnI, Nowhere, Nowhere},
		{"1 slice B", Nowhere, OnK, OnK}, {"1 slice B, gather C", Nowhere, OnK, Nowhere}, {"1 slice both", OnJ, OnJ, Nowhere},
		{"1 slice both", OnJ, OnJ, OnI}, {"1 slice both", OnJ, OnJ, OnK},
	},
	{OnI, Nowhere}: {{"1", OnI, Nowhere, OnI}, {"1 gather C", OnI, Nowhere, Nowhere}, {"1 gather A", Nowhere, Nowhere, Nowhere}},
	{Nowhere, OnK}: {{"1", Nowhere, OnK, OnK}, {"1 gather C", Nowhere, OnK, Nowhere}, {"1 gather B", Nowhere, Nowhere, Nowhere}},
	{OnJ, Nowhere}: {
		{"2a", Nowhere, Nowhere, Nowhere}, {"2a'", Nowhere, OnK, OnK}, {"2b", OnJ, OnJ, Nowhere},
		{"2b'", OnJ, OnJ, OnI}, {"2b'", OnJ, OnJ, OnK}, {"2c", OnI, Nowhere, OnI},
	},
	{Nowhere, OnJ}: {
		{"2a", Nowhere, Nowhere, Nowhere}, {"2a'", OnI, Nowhere, OnI}, {"2b", OnJ, OnJ, Nowhere},
		{"2b'", OnJ, OnJ, OnI}, {"2b'", OnJ, OnJ, OnK}, {"2c", Nowhere, OnK, OnK},
	},
	{OnJ, OnJ}: {
		{"3a", OnJ, OnJ, Nowhere}, {"3b", OnJ, OnJ, OnI}, {"3b", OnJ, OnJ, OnK}, {"3c", OnJ, OnJ, Unreduced},
	},
	{OnI, OnK}: {
		{"4a", Nowhere, OnK, OnK}, {"4b", OnI, Nowhere, OnI}, {"4c", OnJ, OnJ, OnI}, {"4c", OnJ, OnJ, OnK},
	},
	{OnI, OnJ}:         {{"fsdp gather B", OnI, Nowhere, OnI}, {"fsdp exchange A", OnJ, OnJ, OnI}},
	{OnJ, OnK}:         {{"megatron gather A", Nowhere, OnK, OnK}, {"megatron exchange B", OnJ, OnJ, OnK}},
	{OnBatch, OnBatch}: {{"batch", OnBatch, OnBatch, OnBatch}},
	{OnBatch, Nowhere}: {{"batch slice B", OnBatch, OnBatch, OnBatch}},
	{Nowhere, OnBatch}: {{"batch slice A", OnBatch, OnBatch, OnBatch}},
}
