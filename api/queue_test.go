package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lineUp lets requests enter one after the other and returns a function that says which have been admitted so far.
func lineUp(t *testing.T, q *queue, waiters ...*waiter) func() string {
	t.Helper()
	var mu sync.Mutex
	var order []string
	for _, w := range waiters {
		go func() {
			got, err := q.enter(t.Context(), w)
			if err != nil || got != admitted {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			order = append(order, w.client)
		}()
		synctest.Wait()
	}
	return func() string {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(order, " ")
	}
}

func one(client string, l lane) *waiter { return &waiter{client: client, lane: l} }

// Clients take turns; the requests of each go in order.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 16, 1<<20)
		list := []*waiter{one("a1", short), one("a", short), one("a", short), one("b", short), one("a", short), one("c", short), one("b", short)}
		seen := lineUp(t, q, list...)
		want := "a1"
		if got := seen(); got != want {
			t.Fatalf("admitted at first: %s", got)
		}
		running := list[0]
		for _, next := range []int{1, 3, 5, 2, 6, 4} {
			q.leave(running, time.Second)
			running = list[next]
			want += " " + running.client
			if got := seen(); got != want {
				t.Fatalf("admitted %s, want %s", got, want)
			}
		}
		q.leave(running, time.Second)
		if q.running != [lanes]int{} || q.n != 0 || q.bytes != 0 {
			t.Errorf("in the end %+v", q)
		}
	})
}

// Long requests leave a slot to short ones, and one that overstays makes room.
func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2, 16, 1<<20)
		list := []*waiter{one("L1", long), one("L2", long), one("s1", short), one("s2", short), one("s3", short)}
		seen := lineUp(t, q, list...)
		if got := seen(); got != "L1 s1" {
			t.Fatalf("admitted at first: %s", got)
		}
		q.overstays(list[2])
		if got := seen(); got != "L1 s1 s2" {
			t.Fatalf("admitted beside a short one that overstays: %s", got)
		}
		q.leave(list[2], time.Second)
		if got := seen(); got != "L1 s1 s2" {
			t.Fatalf("admitted when that one left: %s", got)
		}
		q.overstays(list[2]) // its timer was late
		q.leave(list[0], time.Second)
		if got := seen(); got != "L1 s1 s2 L2" {
			t.Fatalf("admitted when the long one left: %s", got)
		}
		q.leave(list[3], time.Second)
		if got := seen(); got != "L1 s1 s2 L2 s3" {
			t.Fatalf("admitted in the end: %s", got)
		}
	})
}

// The queue has bounds, in number and in bytes, but one request may always wait.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 2, 100)
		first := one("a", short)
		lineUp(t, q, first, &waiter{client: "b", bytes: 1000})
		for name, w := range map[string]*waiter{"bytes": {client: "c", bytes: 1}, "number": {client: "d"}} {
			if name == "number" {
				lineUp(t, q, one("e", short))
			}
			if got, err := q.enter(t.Context(), w); got != full || err != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if name == "number" && q.patience() < time.Second {
				t.Errorf("come again after %v", q.patience())
			}
		}
		q.close()
		synctest.Wait()
		if q.n != 0 || q.bytes != 0 {
			t.Errorf("closed with %d that wait", q.n)
		}
		if got, err := q.enter(t.Context(), one("f", short)); got != closing || err != nil {
			t.Errorf("after the end: %v, %v", got, err)
		}
	})
}

// Who gives up leaves at once, and nothing is lost or admitted twice whatever happens at the same time.
func TestGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(3, 1000, 1<<30)
		rng := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		working, most, done := 0, 0, 0
		var all sync.WaitGroup
		for i := range 500 {
			w := &waiter{client: fmt.Sprint(i % 7), lane: lane(rng.IntN(2)), bytes: 1}
			begin, patience, work := rng.IntN(100), 1+rng.IntN(60), rng.IntN(4)
			all.Go(func() {
				time.Sleep(time.Duration(begin) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(patience)*time.Millisecond)
				defer cancel()
				start := time.Now()
				got, err := q.enter(ctx, w)
				if err != nil {
					if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Duration(patience)*time.Millisecond {
						t.Errorf("gave up after %v: %v", time.Since(start), err)
					}
					return
				}
				if got != admitted {
					t.Errorf("outcome %v", got)
					return
				}
				mu.Lock()
				working++
				most = max(most, working)
				mu.Unlock()
				time.Sleep(time.Duration(work) * time.Millisecond)
				mu.Lock()
				working--
				done++
				mu.Unlock()
				q.leave(w, time.Since(start))
			})
		}
		all.Wait()
		if q.running != [lanes]int{} || q.n != 0 || q.bytes != 0 || !q.waiting[short].Empty() || !q.waiting[long].Empty() {
			t.Errorf("in the end %+v", q)
		}
		if most != 3 || done < 100 {
			t.Errorf("%d at a time, %d done", most, done)
		}
	})
}
