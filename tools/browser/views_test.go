package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const megatron = "transformer_train_megatron_priorities.mlir"

// everyView visits every view of every subject, and fails for errors, for requests to others, and for what is not accessible.
func everyView(p *page, subjects int) {
	p.Helper()
	for doc := range subjects {
		for _, view := range []string{"program", "propagation", "plan", "compare", "what-if", "devices"} {
			where := fmt.Sprintf("%s of subject %d", view, doc)
			p.visit(hash(view, "doc", fmt.Sprint(doc)))
			p.accessible(where)
			p.check(where)
		}
	}
}

// The four questions of docs/review.md are answered by the page alone.
func TestMegatron(t *testing.T) {
	chromium(t)
	plan, more := filepath.Join(t.TempDir(), "plan.json"), filepath.Join(t.TempDir(), "more.json")
	run(t, "plan", megatron, "--memory", "400KB", "--steps", "10000000", "-o", plan)
	run(t, "plan", "--from", plan, "--memory", "800KB", "-o", more)
	for _, dark := range []bool{false, true} {
		p := open(t, serve(t, plan, more), dark)
		everyView(p, 3)

		p.visit(hash("program", "doc", "1", "value", "%337"))
		p.contains(".inspector", "f32[8,16,64]", "dimension 2 64 model", "“model” moves from %338[2] to %337[2] through %338 = sharding_constraint :198",
			"“model” is given at %338[2], by sdy.sharding_constraint :198")
		p.visit(hash("propagation", "doc", "1", "value", "%684"))
		p.contains(".inspector .refusals", "“model” of %683[0] is kept from %684[0] in %684 = sharding_constraint :411: used by another dimension",
			"decided by %684[2] model", `To let it pass: keep "model" away from %684[2], or write "model" at %684[0].`)
		p.visit(hash("program", "doc", "1", "value", "%arg9"))
		p.do(chromedp.Click(".dimension .why-not button"), chromedp.WaitVisible(".why-not pre"))
		p.contains(".why-not pre", `why not "data": no dimension that operations tie to %arg9[0] is sharded along it`)
		p.visit(hash("plan"))
		p.contains("tbody tr:first-child", "all_reduce model f32[2,16,32] 6 6 192 KiB", ":171")
		p.visit(hash("compare", "with", "2"))
		p.contains("table", "limit 391 KiB 781 KiB +100 %", "memory 311 KiB 311 KiB same")
		p.visit(hash("devices"))
		p.contains(".beside", "Before ", "After ", "Rows of devices go along data, columns along model")
		p.accessible("what was looked at")
		p.check("the walk")
	}
}

// The player goes forwards and backwards by keys, and what was moved is what the command line says.
func TestPlayer(t *testing.T) {
	p := open(t, serve(t, megatron), false)
	p.visit(hash("propagation", "step", "0"))
	p.contains(".sentence", "What the user wrote")
	p.do(chromedp.KeyEvent("..."), p.drawn())
	p.contains(".position", "3 / 1,401")
	third := p.text(".sentence")
	p.do(chromedp.KeyEvent("."), p.drawn(), chromedp.KeyEvent(","), p.drawn())
	if got := p.text(".sentence"); got != third || !strings.Contains(got, "moves from") {
		t.Errorf("forward and back is %q, it was %q", got, third)
	}
	out, err := program(t, "propagate", megatron, "--trace", "--full").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.NewReplacer("“", `"`, "”", `"`).Replace(strings.Split(third, " through ")[0])
	if !strings.Contains(string(out), words) {
		t.Errorf("the command line does not say %q", words)
	}
	p.visit(hash("propagation", "step", "73", "heat", "1"))
	p.contains(".note", "user priority 0, op priority 0, each device would gather 638 KiB of 49 values")
	p.check("the player")
}

// The tree is unfolded, searched and walked by keys; equal layers are there once.
func TestProgram(t *testing.T) {
	p := open(t, serve(t, megatron), false)
	p.visit(hash("program"))
	p.contains(".list", "inputs", "2 layers", "outputs")
	p.do(chromedp.Focus(".list"), chromedp.KeyEvent(kb.End), p.drawn(), chromedp.KeyEvent(kb.Home), p.drawn(), chromedp.KeyEvent(kb.ArrowDown+kb.ArrowDown), p.drawn())
	p.do(chromedp.KeyEvent(kb.ArrowRight), p.drawn())
	p.contains(".list", "layer 1", "layer 2")
	p.do(chromedp.Focus("input[type=search]"), chromedp.KeyEvent("dot_general :197"), p.drawn())
	p.contains(".toolbar", "0 values")
	p.visit(hash("program", "q", "multiply :197"))
	p.contains(".list", "%337")
	p.check("the program")
}

// Planning again streams, and its plan is shown beside the others.
func TestWhatIf(t *testing.T) {
	p := open(t, serve(t, megatron), false)
	p.visit(hash("what-if", "memory", "800KB"))
	p.do(chromedp.Click("button.primary"), chromedp.WaitVisible(".page section:nth-of-type(3) button"))
	p.contains(".page section:nth-of-type(3)", "A step takes")
	p.do(chromedp.Click(".page section:nth-of-type(3) button"), p.drawn())
	p.contains(".tiles", "781 KiB")
	p.visit(hash("what-if", "mesh", "data"))
	p.do(chromedp.Click("button.primary"), chromedp.WaitVisible(".problem"))
	p.contains(".problem", "NAME=SIZE")
}

// How else an input could be cut is asked of the server.
func TestAlternatives(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.json")
	run(t, "plan", "mlp.json", "--mesh", "data=4,model=2", "-o", plan)
	p := open(t, serve(t, plan), false)
	p.visit(hash("plan", "input", "params/0/w"))
	p.do(chromedp.WaitVisible("tr.current .badge"))
	p.contains("table", "params/0/w f32", "now", "try it")
	p.check("alternatives")
}

// A report works from disk, without a server, and is small.
func TestReport(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	plan, report := filepath.Join(dir, "plan.json"), filepath.Join(dir, "report.html")
	run(t, "plan", "transformer_train.mlir", "--mesh", "data=4,model=2", "--memory", "500KB", "--timeout", "8s", "-o", plan)
	run(t, "review", plan, "--export", report)
	info, err := os.Stat(report)
	if err != nil || info.Size() > 3_000_000 {
		t.Fatalf("%d bytes, %v", info.Size(), err)
	}
	t.Logf("the report of transformer_train has %d bytes", info.Size())
	p := open(t, "file://"+report, false)
	everyView(p, 2)
	p.visit(hash("what-if"))
	p.contains("main", "needs a server")
}

// A server without a token in the address says what it needs.
func TestWithoutToken(t *testing.T) {
	p := open(t, strings.Split(serve(t, megatron), "#")[0], false)
	p.contains(".problem", "This server needs a token")
}
