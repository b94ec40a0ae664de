package api

import (
	"context"
	"sync"
	"time"

	"autoshard/api/turns"
)

// lane is a kind of requests with a share of the slots.
type lane uint8

// The lanes. Long requests leave a slot to short ones, where there is more than one.
const (
	short lane = iota
	long
	lanes
)

// queue admits requests to slots. Those that find none free wait: in each lane the clients take turns, and the requests
// of one client go in the order in which they came. A request that overstays turns long and makes room for a short one.
type queue struct {
	slots     int
	most      int   // that wait
	mostBytes int64 // of those that wait

	mu       sync.Mutex
	running  [lanes]int
	overstay int // of those running, how many came as short and turned long
	waiting  [lanes]turns.Turns[*waiter]
	n        int   // that wait
	bytes    int64 // of those that wait
	arrivals uint64
	typical  time.Duration // of work on a request, recent ones counting most
	closed   bool
}

// outcome is how waiting ended.
type outcome uint8

const (
	admitted outcome = iota
	full             // nothing more may wait
	closing          // the server ends
)

// waiter is a request in the queue.
type waiter struct {
	client  string
	lane    lane
	bytes   int64
	arrival uint64
	called  chan outcome // buffered: whoever calls does not wait
	over    bool         // it overstayed
	left    bool         // it has no slot any more
}

func newQueue(slots, most int, mostBytes int64) *queue {
	return &queue{slots: slots, most: most, mostBytes: mostBytes, typical: time.Second}
}

// enter returns when the request has a slot, or cannot get one: then the outcome says why, or the error is the context's.
func (q *queue) enter(ctx context.Context, w *waiter) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return full, err
	}
	if got, ok := q.join(w); ok {
		return got, nil
	}
	select {
	case got := <-w.called:
		return got, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case got := <-w.called: // at the same time
		if got == admitted {
			q.release(w)
		}
	default:
		q.waiting[w.lane].Remove(w.client, w)
		q.forget(w)
	}
	return full, ctx.Err()
}

// join gives the request a slot or a place in the queue; ok says whether that is settled at once.
func (q *queue) join(w *waiter) (got outcome, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.arrivals++
	w.arrival, w.called = q.arrivals, make(chan outcome, 1)
	switch {
	case q.closed:
		return closing, true
	case q.waiting[w.lane].Empty() && q.fits(w.lane):
		q.running[w.lane]++
		return admitted, true
	case q.n >= q.most || q.bytes+w.bytes > q.mostBytes && q.n > 0:
		return full, true
	}
	q.waiting[w.lane].Add(w.client, w)
	q.n++
	q.bytes += w.bytes
	return 0, false
}

// fits says whether a request of a lane can start.
func (q *queue) fits(l lane) bool {
	total := q.running[short] + q.running[long]
	if l == long {
		return total < q.slots && q.running[long] < max(1, q.slots-1)
	}
	return total < q.slots+min(q.overstay, q.slots)
}

// forget takes a request that left its line out of the sums.
func (q *queue) forget(w *waiter) {
	q.n--
	q.bytes -= w.bytes
}

// overstays turns a short request that takes long into a long one, which makes room for a short one.
func (q *queue) overstays(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.lane == long || w.left {
		return
	}
	w.lane, w.over = long, true
	q.running[short]--
	q.running[long]++
	q.overstay++
	q.call()
}

// leave frees the slot of a request that was worked on for some time.
func (q *queue) leave(w *waiter, worked time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.typical += (worked - q.typical) / 8
	q.release(w)
}

func (q *queue) release(w *waiter) {
	w.left = true
	q.running[w.lane]--
	if w.over {
		q.overstay--
	}
	q.call()
}

// call starts waiting requests while there is room: of the two lanes, the one whose next request came first.
func (q *queue) call() {
	for {
		var next *waiter
		for l := range lanes {
			if w, ok := q.waiting[l].Next(); ok && q.fits(l) && (next == nil || w.arrival < next.arrival) {
				next = w
			}
		}
		if next == nil {
			return
		}
		q.waiting[next.lane].Take()
		q.forget(next)
		q.running[next.lane]++
		next.called <- admitted
	}
}

// close ends waiting, for those that wait and those to come.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for l := range lanes {
		for w, ok := q.waiting[l].Take(); ok; w, ok = q.waiting[l].Take() {
			q.forget(w)
			w.called <- closing
		}
	}
}

// load returns how many requests are worked on, and how many wait.
func (q *queue) load() (working, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running[short] + q.running[long], q.n
}

// patience returns after what time a refused request may find room: when half of those that wait have had their turn.
func (q *queue) patience() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.typical * time.Duration(q.n/2+1) / time.Duration(q.slots)
}
