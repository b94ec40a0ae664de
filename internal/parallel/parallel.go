// Package parallel runs independent pieces of work on all cores.
//
// Which core takes which piece depends on the moment, so that a piece must write nothing that another one reads or writes: then the outcome
// is the same on any number of cores.
//
//	squares := make([]int, 100)
//	parallel.Each(len(squares), func(i int) { squares[i] = i * i })
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls work with 0 to n-1, on all cores, and returns when all calls have.
func Each(n int, work func(i int)) {
	var next atomic.Int64
	take := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			work(i)
		}
	}
	var others sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		others.Go(take)
	}
	take()
	others.Wait()
}

// Ranges calls work with ranges of at most most numbers that together are 0 to n-1, on all cores, and returns when all calls have.
func Ranges(n, most int, work func(from, to int)) {
	Each((n+most-1)/most, func(i int) { work(i*most, min(n, (i+1)*most)) })
}
