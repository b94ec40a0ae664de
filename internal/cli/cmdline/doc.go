// Package cmdline is what the subcommands share with the world: reading a model from a file or standard input, writing
// results so that no half-written file is ever seen, progress, and errors with their exit codes.
//
//	s := cmdline.New(os.Stdin, os.Stdout, os.Stderr)
//	name, text, err := s.Read(ctx, "model.mlir.gz")     // unpacked
//	if err != nil {
//		os.Exit(s.Fail(err))                       // prints it with its source line
//	}
package cmdline
