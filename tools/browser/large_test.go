package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/chromedp/cdproto/performance"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// What the page may take of the unrolled llama3_8b_train, measured in the browser.
const (
	mostReady  = 2000.0    // milliseconds from the navigation until it is drawn
	mostStep   = 50.0      // milliseconds from a key until the step is drawn, the median of many
	mostMemory = 500 << 20 // bytes of the page's heap
)

// The 31,554 operations of the unrolled llama3_8b_train are there soon, played fluidly, and take little memory.
func TestLlama(t *testing.T) {
	chromium(t)
	p := open(t, serve(t, annotatedLlama(t)), false)
	var ready, operations float64
	p.do(chromedp.Evaluate(`performance.getEntriesByName("ready")[0].startTime`, &ready),
		chromedp.Evaluate(`Number(document.querySelector(".toolbar .quiet").innerText.split(" ")[0].replace(",", ""))`, &operations))
	if operations < 29000 {
		t.Errorf("%g operations are drawn", operations)
	}
	everyView(p, 1)
	p.visit(hash("propagation", "step", "8000"))
	var steps []float64
	p.do(chromedp.Evaluate(`(async () => {
		const times = [];
		for (let i = 0; i < 41; i++) {
			const start = performance.now();
			window.dispatchEvent(new KeyboardEvent("keydown", {key: "."}));
			const before = document.querySelector(".position").innerText;
			while (document.querySelector(".position").innerText === before) await new Promise((done) => setTimeout(done));
			await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
			times.push(performance.now() - start);
		}
		return times.sort((a, b) => a - b);
	})()`, &steps, func(e *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return e.WithAwaitPromise(true) }))
	median := steps[len(steps)/2]
	heap := heapOf(p)
	if heap > mostMemory {
		t.Errorf("the page takes %.0f MiB", heap/(1<<20))
	}
	if load := load(t); load > float64(runtime.NumCPU()) {
		t.Logf("times are not judged: %.1f programs wait for %d processors", load, runtime.NumCPU())
	} else if ready > mostReady || median > mostStep {
		t.Errorf("drawn after %.0f ms, want %g; a step takes %.1f ms, want %g", ready, mostReady, median, mostStep)
	}
	t.Logf("%g operations are drawn after %.0f ms, a step of the player takes %.1f ms, the page %.0f MiB", operations, ready, median, heap/(1<<20))
	p.check("the large model")
}

// A plan of it is there in every view, and takes little memory, too.
func TestPlanOfLlama(t *testing.T) {
	chromium(t)
	plan := filepath.Join(t.TempDir(), "plan.json")
	run(t, "plan", annotatedLlama(t), "--memory", "1TiB", "--steps", "1", "-o", plan)
	p := open(t, serve(t, plan), false)
	everyView(p, 2)
	if heap := heapOf(p); heap > mostMemory {
		t.Errorf("the page takes %.0f MiB", heap/(1<<20))
	}
	p.check("the plan of the large model")
}

// load is how many programs wanted to run at once in the last minute, where the system says so.
func load(t *testing.T) (n float64) {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func heapOf(p *page) (bytes float64) {
	p.Helper()
	p.do(performance.Enable())
	var metrics []*performance.Metric
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		metrics, err = performance.GetMetrics().Do(ctx)
		return err
	}))
	for _, m := range metrics {
		if m.Name == "JSHeapUsedSize" {
			return m.Value
		}
	}
	p.Fatal("the browser does not say what the page takes")
	return 0
}

// A scanned mixture of experts: what is in the loop is inside it, in every view.
func TestMixtral(t *testing.T) {
	chromium(t)
	plan := filepath.Join(t.TempDir(), "plan.json")
	run(t, "plan", shared(t, "mixtral_8x7b_train_scan.mlir"), "--mesh", "data=16,model=8", "--memory", "1TiB", "--steps", "1", "-o", plan)
	p := open(t, serve(t, plan), false)
	everyView(p, 2)
	p.visit(hash("program", "q", "while"))
	p.contains(".list", "while")
	p.visit(hash("plan"))
	p.contains(".tiles", "memory", "TiB")
	p.check("the mixture of experts")
}
