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
