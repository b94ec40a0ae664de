package lint_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/internal/testkit"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/modeljson"
)

//go:generate go test -run TestDocument -rewrite .

func parse(t *testing.T, src string) *ir.Module {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(src), mlir.Options{File: "model.mlir"})
	if err == nil {
		err = ir.Verify(t.Context(), m)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return m
}

func run(t *testing.T, m *ir.Module, disabled ...string) []diag.Diagnostic {
	t.Helper()
	found, err := lint.Run(t.Context(), m, lint.Options{Disabled: disabled})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Each rule's example makes this rule alone fire, once, at a line of the text; switched off, it says nothing.
func TestExamples(t *testing.T) {
	names := []string{}
	for _, r := range lint.Rules() {
		t.Run(r.Name, func(t *testing.T) {
			m := parse(t, r.Example)
			before := string(mlir.Print(m, mlir.PrintOptions{}))
			found := run(t, m)
			if r.Name == "custom-op-without-rule" {
				found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Code == "unsupported-op" })
			}
			if len(found) != 1 || found[0].Code != diag.Code(r.Name) || found[0].Pos.Line == 0 || found[0].Source == "" ||
				found[0].Severity != diag.SeverityWarning {
				t.Errorf("findings %+v", found)
			}
			if found := run(t, m, r.Name, "unsupported-op"); len(found) != 0 {
				t.Errorf("switched off: %+v", found)
			}
			if after := string(mlir.Print(m, mlir.PrintOptions{})); before != after {
				t.Errorf("the program changed:\n%s", cmp.Diff(before, after))
			}
		})
		names = append(names, r.Name)
	}
	if !slices.IsSorted(names) {
		t.Errorf("rules are not in order: %v", names)
	}
}

// What the rules must leave alone, and what else they must find.
func TestRules(t *testing.T) {
	const mesh = "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"
	for _, test := range []struct{ name, src, want string }{
		{"a mesh without any sharding is for the plan",
			mesh + "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n  return %a : tensor<8xf32>\n}", ""},
		{"collectives name a mesh of their own with the axes that shardings use",
			mesh + `sdy.mesh @mesh_0 = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "y"}
      (%b: tensor<1xf32>) {
    %1 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "y">]>, use_global_device_ids}>
      : (tensor<1xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}`, ""},
		{"an axis is left to the plan where an argument has no sharding",
			mesh + `func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}`, ""},
		{"replication in words uses an axis",
			mesh + `func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], replicated={"y"}>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}`, ""},
		{"axes of collectives count",
			mesh + `func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_slice [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}`, ""},
		{"sub-axes divide, results and operations are looked at",
			mesh + `func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0:2 = "stablehlo.optimization_barrier"(%a, %a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{"y", "x"}]>]>} : (tensor<6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  return %0#0 : tensor<6xf32>
}`, `2: uneven-sharding: dimension 0 of result 0 of @main has size 6, which is no multiple of the 4 devices along "x"
3: uneven-sharding: dimension 0 of result 1 of ` + "`stablehlo.optimization_barrier`" + ` has size 6, which is no multiple of the 8 devices along "y", "x"
`},
		{"functions are reached through calls, composites and bodies",
			`func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.composite "my.c" %a {decomposition = @c} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @c(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @d(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @d(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @e(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @e2(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @e2(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}`, "12: unreachable-function: nothing calls the private function @e\n16: unreachable-function: nothing calls the private function @e2\n"},
		{"a sharding that propagation brings is one",
			mesh + `func.func @main(%a: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.add %a, %b : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}`, ""},
		{"bodies of manual computations are for the backend, other than what they hold",
			mesh + `func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x", "y"} (%b: tensor<1xf32>) {
    %1 = stablehlo.custom_call @unheard_of(%b) : (tensor<1xf32>) -> tensor<1xf32>
    sdy.return %1 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}`, "4: custom-op-without-rule: no sharding passes through `unheard_of`: it has no sharding rule\n4: unsupported-op: the backend cannot run this"},
		{"targets that are known to have no rule",
			`func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @tpu_custom_call(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @f(%0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "foo.bar"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}`, "4: custom-op-without-rule: no sharding passes through `foo.bar`: it has no sharding rule\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			for _, d := range run(t, parse(t, test.src)) {
				if d.Code != "unsupported-op" || strings.Contains(test.want, "unsupported-op") {
					fmt.Fprintf(&b, "%d: %s: %s\n", d.Pos.Line, d.Code, d.Message)
				}
			}
			if got := b.String(); got != test.want && (!strings.Contains(test.want, "unsupported") || !strings.HasPrefix(got, test.want)) {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

// The names of arguments are those of the program.
func TestModelJSON(t *testing.T) {
	m, err := modeljson.Read(t.Context(), []byte(`{"schema": "autoshard.model/v1", "meshes": [{"axes": [{"name": "x", "size": 4}]}],
	"inputs": [{"name": "weights", "type": "f32[6]", "sharding": "[{\"x\"}]"}],
	"outputs": [{"value": "weights"}]}`), "model.json")
	if err != nil {
		t.Fatal(err)
	}
	found := run(t, m)
	if len(found) != 1 || !strings.Contains(found[0].Message, "argument 0 (weights)") || found[0].Pos.File != "model.json" {
		t.Errorf("%+v", found)
	}
}

func TestUnknownRule(t *testing.T) {
	_, err := lint.Run(t.Context(), ir.NewModule(), lint.Options{Disabled: []string{"unused-axes"}})
	if err == nil || !strings.Contains(err.Error(), "did you mean `unused-axis`?") {
		t.Errorf("error %v", err)
	}
}

// docs/check.md is made from the table of rules.
func TestDocument(t *testing.T) {
	testkit.File(t, filepath.Join("..", "..", "docs", "check.md"), document())
}

const documentHead = `# Warnings of check

Generated from internal/lint/rules.go by ` + "`go generate ./internal/lint`" + `. A test runs the examples.

    autoshard check MODEL... [--mesh data=4,model=2] [--disable RULE] [--format text|json|sarif|github]

reads and verifies models, reports every error, and warns about what is legal but probably not meant. A rule is switched off with
` + "`--disable=RULE`" + `, which may be repeated. Exit code 0: nothing was found; 1: warnings; 2: errors, which have codes of their own
([errors.md](errors.md)); 4: only things that are not supported.

| rule | warns of |
|---|---|
`

func document() string {
	var b strings.Builder
	b.WriteString(documentHead)
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", r.Name, r.Name, r.Summary)
	}
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s\n\n```mlir\n%s```\n", r.Name, strings.ToUpper(r.Summary[:1])+r.Summary[1:], r.Text, r.Example)
	}
	b.WriteString(documentPrograms)
	for _, r := range lint.Programs() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", r.Name, r.Name, r.Summary)
	}
	for _, r := range lint.Programs() {
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s\n\n```\n%s```\n", r.Name, strings.ToUpper(r.Summary[:1])+r.Summary[1:], r.Text, r.Example)
	}
	b.WriteString(documentAnswers)
	for _, r := range lint.Answers() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.ID, r.Name, r.Text)
	}
	return b.String()
}

const documentPrograms = `
# Advice on shard_map programs

` + "`check`" + ` says what the collectives of a [shard_map program](shardmap.md) send although they need not, if that saves time or bytes of a step on
` + "`--hardware`" + `, and how much: of a text such as train.shardmap, and of a model with shard_maps among other ops, as JAX exports it, at its lines and those of
the Python that it comes from. Collectives that only the shardings of a model call for are not written by anybody: a [plan](plan.md) is about them. ` + "`check --fix`" + ` makes these rewrites in the file, one after the other until none is left, when a run of both programs on random inputs has given the same outputs,
but for the rounding of sums. A model in MLIR's text becomes one manual computation, as ` + "`emit --format sdy`" + ` writes it; binary files stay as they are.

| rule | warns of |
|---|---|
`

const documentAnswers = `
# Findings of plans and propagations

What an answer does not keep of the model, or does not know, is in its text, in the field ` + "`findings`" + ` of its JSON and of the replies of the
service, and in ` + "`plan --format sarif`" + ` and ` + "`--format github`" + `. Beside ` + "`uneven-sharding` and `indivisible-dimension`" + ` there are:

| finding | short | meaning |
|---|---|---|
`
