package jax

import (
	"os/exec"
	"syscall"
)

// isolate gives a process its own group, so that a signal reaches what it starts and an interrupt of the terminal does
// not. The kernel kills it should this process be killed.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends all processes of a started command's group; that there are none is no error.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
