package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// crowd counts what hostile clients did.
type crowd struct{ connections, bytes atomic.Int64 }

// pace is how long a hostile client waits before it does the next thing.
const pace = 50 * time.Millisecond

// molest lets clients be hostile until what it returns is called. They have a token that is not one of the others'.
func molest(ctx context.Context, address string, n int, c *crowd) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	kinds := []func(*crowd, context.Context, string){(*crowd).slow, (*crowd).dying, (*crowd).malformed}
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			for ctx.Err() == nil {
				kinds[i%len(kinds)](c, ctx, address)
			}
		})
	}
	return func() { cancel(); wait.Wait() }
}

// price measures what hostile clients cost a server that has nothing else to do, and says it in a sentence.
func (s *server) price(ctx context.Context, n int) (string, error) {
	const long = 10 * time.Second
	before, err := s.state()
	if err != nil {
		return "", err
	}
	var c crowd
	stop := molest(ctx, s.address, n, &c)
	time.Sleep(long)
	stop()
	after, err := s.state()
	if err != nil {
		return "", err
	}
	used := after.seconds - before.seconds
	connections := c.connections.Load()
	return fmt.Sprintf("\nAlone, the %d clients, in another process on the same cores, make %d connections and send %d single bytes in "+
		"%.0f s; the server works %.1f s of a core, %.0f µs a connection.\n", n, connections, c.bytes.Load(), long.Seconds(), used,
		used*1e6/float64(max(1, connections))), nil
}

// dial sends the beginning of a request.
func (k *crowd) dial(ctx context.Context, address, body string, length int) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	k.connections.Add(1)
	_, err = fmt.Fprintf(c, "POST /autoshard.v1.AutoshardService/Plan HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", secret(0), length, body)
	return c, err
}

// slow sends a byte now and then.
func (k *crowd) slow(ctx context.Context, address string) {
	c, err := k.dial(ctx, address, "{", 1<<20)
	if err != nil {
		pause(ctx)
		return
	}
	defer c.Close()
	for ctx.Err() == nil {
		if _, err := c.Write([]byte(" ")); err != nil {
			return
		}
		k.bytes.Add(1)
		pause(ctx)
	}
}

// dying goes away in the middle of its request.
func (k *crowd) dying(ctx context.Context, address string) {
	if c, err := k.dial(ctx, address, `{"text": "func`, 1<<20); err == nil {
		_ = c.Close()
	}
	pause(ctx)
}

// malformed sends what is no request, and reads what the server says of it.
func (k *crowd) malformed(ctx context.Context, address string) {
	body := strings.Repeat("\x00{]", 100)
	if c, err := k.dial(ctx, address, body, len(body)); err == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c, 64)
		_ = c.Close()
	}
	pause(ctx)
}

func pause(ctx context.Context) {
	select {
	case <-time.After(pace):
	case <-ctx.Done():
	}
}
