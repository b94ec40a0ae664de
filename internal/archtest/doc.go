// Package archtest checks the architecture as a test: which package may import which (dag.txt), what the core must not
// use, that every package has a comment and an example, that tests call what it exports, how long files and how wide lines are.
//
// A line of dag.txt names a package and all packages of this module that it may import; tests are free:
//
//	propagate: internal/diag trace ir ir/rule priority subaxis
//
// The core, that is everything below the façade and the façade itself, knows no files, flags, clocks, environment or
// loggers: it takes values and returns values.
package archtest
