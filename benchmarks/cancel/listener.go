package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

// listener is a context that never ends and notes how often it is looked at: the longest time between two looks is the
// longest that a cancellation would have to wait.
type listener struct {
	context.Context
	mu      sync.Mutex
	last    time.Time
	longest time.Duration
	at      string // the function that looked at the end of the longest stretch
	looks   int64
}

func listen() *listener { return &listener{Context: context.Background(), last: time.Now()} }

// Err implements context.Context.
func (l *listener) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look()
	return nil
}

// stop counts the stretch since the last look.
func (l *listener) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look()
}

// worthNaming is the stretch from which on it is worth finding out where it ended.
const worthNaming = time.Millisecond

func (l *listener) look() {
	now := time.Now()
	if stretch := now.Sub(l.last); stretch > l.longest {
		l.longest = stretch
		if stretch > worthNaming {
			l.at = caller()
		}
	}
	l.looks++
	l.last = time.Now()
}

// caller names the function that looked, and the line.
func caller() string {
	var pcs [8]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "autoshard") && !strings.Contains(f.Function, ").Walk") {
			return fmt.Sprintf("%s:%d", strings.TrimPrefix(f.Function, "autoshard/"), f.Line)
		}
		if !more {
			return "the end"
		}
	}
}
