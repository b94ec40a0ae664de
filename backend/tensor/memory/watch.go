package memory

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// watching is the watcher at work, nil but in tests.
var watching atomic.Pointer[Watcher]

// kept is how many bytes a watcher keeps of what was given back.
const kept = 64 << 20

// Watcher finds out who breaks the rules of the package, for tests. All memory that is taken is new and full of garbage, and what is given
// back is filled with garbage and kept: what reads memory that it did not set, or that it does not own any more, computes garbage.
type Watcher struct {
	garbage byte
	mutex   sync.Mutex
	taken   map[uintptr]block // what was handed out and is not back, by its first address
	back    map[uintptr]bool  // what was given back and is kept
	queue   [][]byte          // of back, in order
	size    int64             // of queue
	full    int               // how many taken are enough to look for those that nobody has any more
	err     error             // the first rule that was broken
}

// block is memory that somebody owns, or has left to the garbage collector: then its address may be that of something else by now.
type block struct {
	size  int64
	alive weak.Pointer[byte]
}

// Watch begins to watch. The garbage consists of one byte: 255 makes numbers that are NaN and integers that are -1.
func Watch(garbage byte) *Watcher {
	w := &Watcher{garbage: garbage, taken: map[uintptr]block{}, back: map[uintptr]bool{}}
	watching.Store(w)
	return w
}

// Stop ends the watch. It fails where memory was given back twice or in part, or was written to afterwards.
func (w *Watcher) Stop() error {
	watching.CompareAndSwap(w, nil)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.drop(0)
	return w.err
}

// take hands out n of so many bytes.
func (w *Watcher) take(n, size int64) []byte {
	data := allocate(size, size)
	w.fill(data)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.taken) >= w.full {
		maps.DeleteFunc(w.taken, func(_ uintptr, b block) bool { return b.alive.Value() == nil })
		w.full = 2*len(w.taken) + 1<<16
	}
	w.taken[address(data)] = block{size, weak.Make(unsafe.SliceData(data))}
	return data[:n]
}

// give keeps what was given back. What was handed out before the watch is let go.
func (w *Watcher) give(data []byte) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	at := address(data)
	b, owned := w.taken[at]
	owned = owned && b.alive.Value() != nil
	switch {
	case w.back[at]:
		w.broken(fmt.Errorf("%d bytes were given back twice", len(data)))
		return
	case !owned && w.inside(at):
		w.broken(fmt.Errorf("%d bytes inside of memory were given back", len(data)))
		return
	case !owned:
		return
	case b.size != int64(len(data)):
		w.broken(fmt.Errorf("%d of %d bytes were given back", len(data), b.size))
	}
	delete(w.taken, at)
	w.fill(data)
	w.back[at] = true
	w.queue = append(w.queue, data)
	w.size += int64(len(data))
	w.drop(kept)
}

// inside says whether an address lies in what is handed out, behind its beginning.
func (w *Watcher) inside(at uintptr) bool {
	for first, b := range w.taken {
		if b.alive.Value() == nil {
			delete(w.taken, first)
		} else if at > first && at < first+uintptr(b.size) {
			return true
		}
	}
	return false
}

// drop lets go what was given back first, until no more bytes are kept.
func (w *Watcher) drop(most int64) {
	for w.size > most {
		data := w.queue[0]
		w.queue = w.queue[1:]
		w.size -= int64(len(data))
		delete(w.back, address(data))
		if bytes.Count(data, []byte{w.garbage}) < len(data) {
			w.broken(fmt.Errorf("%d bytes were written to after they had been given back", len(data)))
		}
	}
}

func (w *Watcher) fill(data []byte) {
	data[0] = w.garbage
	for done := 1; done < len(data); done *= 2 {
		copy(data[done:], data[:done])
	}
}

func (w *Watcher) broken(err error) { w.err = errors.Join(w.err, err) }

func address(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }
