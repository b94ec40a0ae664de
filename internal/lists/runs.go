package lists

import (
	"strconv"
	"strings"
)

// Runs returns sorted numbers as text: 0-3,7,9-11, at most so many parts.
func Runs(sorted []int, most int) string {
	var parts []string
	for i := 0; i < len(sorted); {
		end := i
		for end+1 < len(sorted) && sorted[end+1] == sorted[end]+1 {
			end++
		}
		if len(parts) == most {
			parts = append(parts, "…")
			break
		}
		part := strconv.Itoa(sorted[i])
		if end == i+1 {
			end = i
		}
		if end > i {
			part += "-" + strconv.Itoa(sorted[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, ",")
}
