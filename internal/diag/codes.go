package diag

// The codes, by range: 1000 text, 1100 types and values, 1200 meshes and shardings, 1300 model.json,
// 1400 options, 2000 planning, 3000 running, 4000 unsupported, 9000 internal.
const (
	Syntax          Code = "AS1001"
	UnknownOp       Code = "AS1002"
	Undefined       Code = "AS1003"
	Redefined       Code = "AS1004"
	NestingTooDeep  Code = "AS1005"
	InputTooLarge   Code = "AS1006"
	NotText         Code = "AS1007"
	EmptyInput      Code = "AS1008"
	BadBytecode     Code = "AS1009"
	TypeMismatch    Code = "AS1101"
	BadOp           Code = "AS1102"
	BadConstant     Code = "AS1103"
	BadAttribute    Code = "AS1104"
	BadMesh         Code = "AS1201"
	UnknownMesh     Code = "AS1202"
	UnknownAxis     Code = "AS1203"
	DuplicateAxis   Code = "AS1204"
	BadSubAxis      Code = "AS1205"
	BadShardingRank Code = "AS1206"
	BadSharding     Code = "AS1207"
	BadRule         Code = "AS1208"
	BadVariance     Code = "AS1209"
	BadModel        Code = "AS1301"
	UnknownField    Code = "AS1302"
	BadOption       Code = "AS1401"
	BadFile         Code = "AS1402"
	MissingSize     Code = "AS1403"
	NoPlan          Code = "AS2001"
	MemoryLimit     Code = "AS2002"
	BudgetLimit     Code = "AS2003"
	Mismatch        Code = "AS3001"
	BadInputs       Code = "AS3002"
	CheckFailed     Code = "AS3003"
	NotFeasible     Code = "AS3004"
	BackendFailed   Code = "AS3005"
	PlansDiffer     Code = "AS3006"
	PlanChanged     Code = "AS3007"
	NotANumber      Code = "AS3008"
	NotSupported    Code = "AS4001"
	Bug             Code = "AS9001"
)

// Explanation describes a code for people. An example is a file and the commands that use it, of which the last one
// fails with the code; codes of bugs have none.
type Explanation struct {
	Code     Code
	Name     string   // short, as a heading
	Text     string   // one paragraph: what it means and what to do
	File     string   // name of the example's file, "" if the commands need none
	Content  string   // of that file
	Commands []string // arguments of autoshard, separated by spaces
}

// Explanations returns all codes in order.
func Explanations() []Explanation { return explanations }
