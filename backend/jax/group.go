package jax

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// group runs processes together: all to a good end, or none.
type group struct {
	members []*member
}

// member is one process.
type member struct {
	index  int
	cmd    *exec.Cmd
	output tail
	err    error
}

// pipeDelay is how long output may come after a process ended: from processes that it started and that keep its
// standard output, before they are killed.
const pipeDelay = 2 * time.Second

func (g *group) add(cmd *exec.Cmd) {
	m := &member{index: len(g.members), cmd: cmd}
	cmd.Stdout, cmd.Stderr = &m.output, &m.output // the same writer: exec gives both one pipe, so that order is kept
	g.members = append(g.members, m)
}

// run starts all processes and returns when all have ended, and those that they started: by themselves, or killed
// because ctx ended or one failed. It returns the first that failed.
func (g *group) run(ctx context.Context) (failed *member) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, m := range g.members {
		all.Go(func() {
			m.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			if m.err != nil && failed == nil {
				failed = m
				cancel()
			}
		})
	}
	all.Wait()
	return failed
}

// run starts the process and waits for its end. The thread is kept because on Linux the kernel ends the process with
// the thread that started it.
func (m *member) run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	isolate(m.cmd)
	m.cmd.WaitDelay = pipeDelay
	if m.err = ctx.Err(); m.err != nil {
		return
	}
	if m.err = m.cmd.Start(); m.err != nil {
		return
	}
	defer kill(m.cmd)
	stop := context.AfterFunc(ctx, func() { kill(m.cmd) })
	defer stop()
	if m.err = m.cmd.Wait(); errors.Is(m.err, exec.ErrWaitDelay) { // it ended well; what it started goes on
		m.err = nil
	}
}

// tail is a writer that keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// maxKept bounds the bytes that a tail keeps.
const maxKept = 16 << 10

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-maxKept):]...)
	if extra := len(t.kept) - maxKept; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
