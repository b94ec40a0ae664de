package filekind

import (
	"regexp"
	"strings"
)

// schema finds what a JSON document of ours says that it is.
var schema = regexp.MustCompile(`"schema"\s*:\s*"([^"]*)"`)

// schemas are the documents of ours.
var schemas = map[string]found{
	"autoshard.plan/v1":       {Plan, "a plan", ""},
	"autoshard.model/v1":      {Model, "a model", ""},
	"autoshard.check/v1":      {Other, "a report of `check`", fromJAX},
	"autoshard.solve/v1":      {Other, "a solution of `solve`", "`autoshard solve check` reads it"},
	"autoshard.evaluation/v1": {Other, "a report of `solve check`", fromJAX},
}

// documents are other JSON files, by a name that they hold.
var documents = []struct {
	key string
	found
}{
	{`"nbformat"`, found{Other, "a Jupyter notebook", fromJAX}},
	{`"weight_map"`, found{Other, "an index of weights", "weights hold no program; " + fromJAX}},
	{`"model_type"`, found{Other, "a configuration of Hugging Face", "it holds no program; " + fromJAX}},
	{`"tokenizer_class"`, found{Other, "a configuration of Hugging Face", "it holds no program; " + fromJAX}},
	{`"node_def"`, found{Other, "a TensorFlow graph", fromJAX}},
}

func text(s string) found {
	s = strings.TrimLeft(s, " \t\r\n")
	if strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "{-#") {
		return document(s)
	}
	line := firstLine(s)
	word, _, _ := strings.Cut(line, " ")
	switch {
	case word == "shard_map":
		return found{ShardMap, "a shard_map program", ""}
	case strings.HasPrefix(s, "HloModule"):
		return found{Other, "HLO text of XLA", "HLO comes after shardings are chosen; " + fromJAX}
	case isMLIR(line, word):
		return found{MLIR, "a model in MLIR", ""}
	case isPython(s, line, word):
		return python(s)
	case word == "node" && strings.Contains(s, "op:"), strings.HasPrefix(s, "saved_model_schema_version"):
		return found{Other, "a TensorFlow graph", "convert it to StableHLO, for instance with jax2tf or tf2xla; " + fromJAX}
	case strings.HasPrefix(s, "ir_version:"):
		return found{Other, "an ONNX model", "ONNX is not read; " + fromJAX}
	}
	return found{}
}

// firstLine returns the first line that is no comment of ours, of Python or of MLIR.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			return line
		}
	}
	return ""
}

func document(s string) found {
	if g := schema.FindStringSubmatch(s); g != nil {
		return schemas[g[1]]
	}
	if strings.HasPrefix(s, "{ lambda ") {
		return found{Other, "a jaxpr", fromJAX}
	}
	for _, d := range documents {
		if strings.Contains(s, d.key) {
			return d.found
		}
	}
	return found{}
}

func isMLIR(line, word string) bool {
	return word == "module" || word == "module{" || word == "func.func" || word == "sdy.mesh" ||
		strings.HasPrefix(line, `"builtin.module"`) || strings.HasPrefix(line, `"func.func"`) || strings.HasPrefix(line, "{-#")
}

func isPython(s, line, word string) bool {
	switch word {
	case "import", "from", "def", "class", "@jax.jit":
		return true
	}
	return strings.HasPrefix(line, `"""`) || strings.HasPrefix(line, "'''") ||
		strings.HasPrefix(s, "#!") && strings.Contains(firstOf(s), "python")
}

func firstOf(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// python tells Python that emit wrote from other sources.
func python(s string) found {
	if strings.Contains(s, "as autoshard planned it") {
		return found{Other, "a Python program that `emit` wrote", "Python runs it; `autoshard run` takes the plan that it was written from"}
	}
	return found{Other, "Python source", "run it and write what it compiles: " + fromJAX}
}
