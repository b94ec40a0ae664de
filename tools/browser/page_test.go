package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium returns a browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("AUTOSHARD_CHROMIUM"); named != "" {
		return named
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"} {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	t.Skip("no Chromium is found; AUTOSHARD_CHROMIUM names one")
	return ""
}

// page is a tab of a browser that notes what goes wrong in it.
type page struct {
	*testing.T
	ctx  context.Context
	base string // address without what is behind #

	mutex    sync.Mutex
	problems []string
}

// open opens an address in a browser of its own, dark or light.
func open(t *testing.T, address string, dark bool) *page {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.WindowSize(1440, 900), chromedp.NoSandbox,
		chromedp.Flag("enable-precise-memory-info", true))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	base, _, _ := strings.Cut(address, "#")
	p := &page{T: t, ctx: ctx, base: base}
	chromedp.ListenTarget(ctx, p.listen)
	if err := chromedp.Run(ctx); err != nil { // which starts the browser; one with a deadline would end it with that
		t.Fatal(err)
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.do(network.Enable(), cdplog.Enable(), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(address), chromedp.WaitVisible("html[data-ready] main *"))
	return p
}

// listen notes errors of the console, exceptions, and requests to anybody but the server.
func (p *page) listen(event any) {
	note := func(format string, args ...any) {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.problems = append(p.problems, fmt.Sprintf(format, args...))
	}
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		note("exception: %s", e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			text, _ := json.Marshal(e.Args)
			note("console: %s", text)
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.LevelError || e.Entry.Level == cdplog.LevelWarning {
			note("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, p.base) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") {
			note("request to %s", u)
		}
	}
}

func (p *page) do(actions ...chromedp.Action) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.check("before a failure")
		p.Fatal(err)
	}
}

// visit goes to a view and waits until it is drawn.
func (p *page) visit(hash string) {
	p.Helper()
	quoted, _ := json.Marshal(hash)
	p.do(chromedp.Evaluate("location.hash = "+string(quoted), nil), p.drawn(), chromedp.WaitReady(`main[aria-busy="false"]`), p.drawn())
}

// drawn waits until the next two frames are drawn.
func (p *page) drawn() chromedp.Action {
	return chromedp.Evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true)))))`, nil,
		func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) })
}

// check fails for what went wrong since it was last called.
func (p *page) check(where string) {
	p.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, problem := range p.problems {
		p.Errorf("%s: %s", where, problem)
	}
	p.problems = nil
}

// text returns what a person reads in an element.
func (p *page) text(selector string) (out string) {
	p.Helper()
	quoted, _ := json.Marshal(selector)
	p.do(chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll(%s)].map((e) => e.innerText).join("\n")`, quoted), &out))
	return out
}

// contains fails where an element does not say something.
func (p *page) contains(selector string, want ...string) {
	p.Helper()
	got := p.text(selector)
	for _, w := range want {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), w) {
			p.Errorf("%s does not say %q but\n%s", selector, w, got)
		}
	}
}

// accessible fails for what axe-core finds that is serious.
func (p *page) accessible(where string) {
	p.Helper()
	source, err := os.ReadFile(root + "/web/node_modules/axe-core/axe.min.js")
	if err != nil {
		p.Logf("axe-core is not there, so that %s is not checked: npm ci in web", where)
		return
	}
	var found []struct{ ID, Impact, Help, Nodes string }
	p.do(chromedp.Evaluate(string(source)+";0", nil),
		chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => ({ID: v.id, Impact: v.impact, Help: v.help,
			Nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary).join(" | ")})))`, &found,
			func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			p.Errorf("%s: %s (%s): %s: %s", where, v.ID, v.Impact, v.Help, v.Nodes)
		}
	}
}

// hash writes a view and its state as the address has them.
func hash(view string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "#/" + view + "?" + q.Encode()
}
