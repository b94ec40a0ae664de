package vhlo

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a version of the dialect, without the patch number, which changes nothing.
type Version struct{ Major, Minor int }

// Newest is the newest version that this program reads and writes; Oldest is the oldest one.
var (
	Newest = Version{1, 22}
	Oldest = Version{0, 9}
)

// Before says whether a version is older than another one.
func (v Version) Before(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// String returns the version as producers write it: 1.18.0.
func (v Version) String() string { return fmt.Sprintf("%d.%d.0", v.Major, v.Minor) }

// ParseVersion reads 1.18.0 or 1.18.
func ParseVersion(text string) (Version, bool) {
	parts := strings.Split(text, ".")
	if len(parts) < 2 || len(parts) > 3 {
		return Version{}, false
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return Version{}, false
		}
		n[i] = int(v)
	}
	return Version{n[0], n[1]}, true
}

// ProducerPrefix begins the producer string of every portable artifact; the version follows.
const ProducerPrefix = "StableHLO_v"

// BytecodeVersion returns the version of MLIR bytecode in which artifacts for a target are written (specification:
// bytecode.md section B.1).
func (v Version) BytecodeVersion() int {
	switch {
	case v.Before(Version{0, 10}):
		return 0
	case v.Before(Version{0, 12}):
		return 1
	case v.Before(Version{0, 14}):
		return 3
	case v.Before(Version{0, 15}):
		return 4
	}
	return 6
}

// AttrSince and TypeSince return the version from which on the dialect has an attribute or a type, by the code that it
// has in bytecode (specification: bytecode.md sections B.2 and B.3).
func AttrSince(code uint64) Version { return since(attrSince, code) }
func TypeSince(code uint64) Version { return since(typeSince, code) }

func since(table map[uint64]Version, code uint64) Version {
	if v, ok := table[code]; ok {
		return v
	}
	return Oldest
}

// The attributes and types that are not of the oldest version.
var (
	attrSince = map[uint64]Version{19: {1, 9}, 20: {1, 9}, 21: {1, 16}, 22: {1, 16}, 23: {1, 16}, 24: {1, 16}, 25: {1, 16}}
	typeSince = map[uint64]Version{27: {0, 10}, 28: {0, 10}, 29: {0, 11}, 30: {0, 18}, 31: {1, 2}, 32: {1, 2}, 33: {1, 6},
		34: {1, 6}, 35: {1, 7}, 36: {1, 7}, 37: {1, 8}, 38: {1, 8}, 39: {1, 8}, 40: {1, 8}, 41: {1, 13}, 42: {1, 15}}
)
