package search

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// waves are the nodes of a model in an order in which messages pass through it, with the arcs that carry them on. The nodes of a wave get
// messages from earlier waves only, so that cores share it.
type waves struct {
	tasks     []task
	stretches []stretch
}

// task is a node, or an arc of it that comes after.
type task struct {
	node int32
	arc  int32 // -1 for the node itself
}

// stretch is what a core does at a time.
type stretch struct {
	from, to int32 // tasks
	after    int32 // stretches, all of earlier waves, that have to be done first
}

// leastStretch is how many matrix entries make a stretch worth being told apart, and stretchesOfWave how many a wave has at most or so.
const leastStretch, stretchesOfWave = 2048, 4

// newWaves orders the nodes of a model by their waves; arcs are those that carry the messages of each node on.
func newWaves(m *model, arcs [][]int32, wave []int32) *waves {
	byWave := make([][]int32, 0, len(wave))
	for i, at := range wave {
		for int(at) >= len(byWave) {
			byWave = append(byWave, nil)
		}
		byWave[at] = append(byWave[at], int32(i))
	}
	w := &waves{}
	for _, nodes := range byWave {
		w.add(m, arcs, nodes)
	}
	return w
}

// add adds a wave.
func (w *waves) add(m *model, arcs [][]int32, nodes []int32) {
	after, all, some := int32(len(w.stretches)), 0, 0
	for _, i := range nodes {
		for _, id := range arcs[i] {
			all += m.arcs[id].entries()
		}
	}
	begin := int32(len(w.tasks))
	for _, i := range nodes {
		w.tasks = append(w.tasks, task{i, -1})
		for _, id := range arcs[i] {
			w.tasks = append(w.tasks, task{i, id})
			if some += m.arcs[id].entries(); some > max(leastStretch, all/stretchesOfWave) {
				w.stretches = append(w.stretches, stretch{begin, int32(len(w.tasks)), after})
				begin, some = int32(len(w.tasks)), 0
			}
		}
	}
	if end := int32(len(w.tasks)); end > begin {
		w.stretches = append(w.stretches, stretch{begin, end, after})
	}
}

// forwardWaves returns the waves in which messages pass to later nodes.
func forwardWaves(m *model) *waves {
	wave := make([]int32, len(m.node))
	for i := range wave {
		for _, id := range m.backward[i] {
			wave[i] = max(wave[i], wave[m.arcs[id].a]+1)
		}
	}
	return newWaves(m, m.forward, wave)
}

// backwardWaves returns those in which they pass to earlier nodes.
func backwardWaves(m *model) *waves {
	wave := make([]int32, len(m.node))
	for i := len(wave) - 1; i >= 0; i-- {
		for _, id := range m.forward[i] {
			wave[i] = max(wave[i], wave[m.arcs[id].b]+1)
		}
	}
	return newWaves(m, m.backward, wave)
}

// looks is how often a core looks whether it can go on before it lets other goroutines run, and manyLooks before it leaves the rest to the
// first one: what it waits for may have lost its processor to another program.
const looks, manyLooks = 64, 1 << 17

// run lets cores do the tasks of one stretch after the other. What a task writes depends on tasks of earlier waves only, so that any number
// of cores comes to the same.
func (w *waves) run(cores int, do func(core int, tasks []task)) {
	var next, done atomic.Int32
	work := func(core int) {
		for looked := 1; core == 0 || looked < manyLooks; looked++ {
			at := next.Load()
			switch {
			case int(at) == len(w.stretches):
				return
			case done.Load() < w.stretches[at].after:
				if looked%looks == 0 {
					runtime.Gosched()
				}
			case next.CompareAndSwap(at, at+1):
				do(core, w.tasks[w.stretches[at].from:w.stretches[at].to])
				done.Add(1)
				looked = 0
			}
		}
	}
	var others sync.WaitGroup
	for core := 1; core < cores; core++ {
		others.Go(func() { work(core) })
	}
	work(0)
	others.Wait()
}
