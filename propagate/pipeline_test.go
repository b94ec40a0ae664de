package propagate_test

import (
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/pass"
	"autoshard/passes"
	"context"
)

// runPasses runs a pipeline of the table of passes on a module, without verification: programs between two passes need
// not be ones that anybody could write.
func runPasses(m *ir.Module, pipeline string) error {
	p, err := passes.Table().Parse(pipeline, "pipeline")
	if err != nil {
		return err
	}
	_, err = p.Run(context.Background(), m, pass.Hooks{SkipVerify: true})
	return err
}

// runPipeline runs a pipeline on a text.
func runPipeline(text, pipeline string) (string, error) {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{})
	if err != nil {
		return "", err
	}
	if err := runPasses(m, pipeline); err != nil {
		return "", err
	}
	return string(mlir.Print(m, mlir.PrintOptions{})), nil
}
