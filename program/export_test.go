package program

import "autoshard/shardmap"

// Grouped returns what a device runs, for tests that cut inputs for other engines.
func Grouped(p *Program) *shardmap.Program { return p.grouped }
