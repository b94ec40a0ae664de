package site

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"slices"
)

// listens finds what a server listens for in its log, and where.
var listens = regexp.MustCompile(`msg=(?:"([^"]*)"|(\S+)) address=(\S+)`)

// Serve starts a command that serves, and returns the addresses that it logs with some messages, such as "listening". The error is that of
// starting it, or that its log ended before, with how the process did.
func Serve(cmd *exec.Cmd, messages ...string) ([]string, error) {
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	addresses, left := make([]string, len(messages)), len(messages)
	for lines := bufio.NewScanner(log); left > 0 && lines.Scan(); {
		m := listens.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		if at := slices.Index(messages, m[1]+m[2]); at >= 0 && addresses[at] == "" {
			addresses[at] = m[3]
			left--
		}
	}
	if left > 0 {
		return nil, errors.Join(errors.New("the server does not listen"), cmd.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // so that it can write on
	return addresses, nil
}
