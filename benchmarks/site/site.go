// Package site says where a measurement was made: on which machine, and of which commit.
package site

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine says how many cores the run could use, and of which processor.
func Machine() string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores, %s, %s", runtime.NumCPU(), model, runtime.Version())
}

// Commit returns the commit of the working tree, with a plus sign if files differ from it.
func Commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	id := strings.TrimSpace(string(out))
	if exec.Command("git", "diff", "--quiet", "HEAD", "--", "*.go").Run() != nil {
		id += "+"
	}
	return id
}
