//go:build !linux

package jax

import "os/exec"

// isolate does nothing: process groups are used on Linux only.
func isolate(*exec.Cmd) {}

// kill ends a started command; that it has ended is no error.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
