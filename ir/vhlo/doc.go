// Package vhlo converts between StableHLO and VHLO, the dialect of portable artifacts: a copy of StableHLO in which
// every op carries a version, fields are always written out, and combined attributes are split.
//
// Attributes and types of the dialect stand for those of the representation one by one, which the reader and the
// writer of bytecode know; here they are those of the representation already. What is left are the ops: their names and
// fields by version, upgrades of old ones, and the fields of VHLO as the attributes of StableHLO:
//
//	op, _ := vhlo.Lookup("gather_v1") // its fields in stored order, and in which versions it exists
//	name, attrs, err := vhlo.NewReader(m).ToStableHLO("gather_v1", fields)
//	name, fields, err := vhlo.NewWriter(m, target).FromStableHLO(op, attrs)
//
// Specification: bytecode.md part B.
package vhlo
