// Package datasheet reads files that describe something by numbers and words, each with how it is known. It knows the syntax alone, not
// what the entries mean:
//
//	sheet, err := datasheet.Read("cluster.yaml", text)
//	sheet.Values[0] // {Path: "matrix.bf16", Text: "9.9e14", Kind: Nominal, Source: "data sheet of the maker", ...}
//
// Files are YAML, JSON or TOML. A value is written plainly, or with its provenance:
//
//	sources:
//	  maker: "data sheet of the maker, 2024"
//	matrix:
//	  bf16: {value: 9.9e14, kind: nominal, source: maker}
//	  f32: 4.9e14
//
// Errors are of class diag.ErrInvalid and name the line.
package datasheet
