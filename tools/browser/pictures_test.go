package browser

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var pictures = flag.Bool("pictures", false, "write docs/review/*.webp")

// The pictures of docs/review.md, of the plan that its text makes.
func TestPictures(t *testing.T) {
	if !*pictures {
		t.Skip("-pictures is not given")
	}
	plan, more := filepath.Join(t.TempDir(), "plan.json"), filepath.Join(t.TempDir(), "more.json")
	run(t, "plan", megatron, "--memory", "400KB", "-o", plan)
	run(t, "plan", "--from", plan, "--memory", "800KB", "-o", more)
	p := open(t, serve(t, plan, more), false)
	for name, where := range map[string]string{
		"program":     hash("program", "doc", "1", "open", "2.3", "value", "%337"),
		"propagation": hash("propagation", "doc", "1", "step", "1400", "value", "%684"),
		"heat":        hash("propagation", "doc", "1", "step", "73", "heat", "1"),
		"plan":        hash("plan"),
		"compare":     hash("compare", "with", "2"),
		"what-if":     hash("what-if", "memory", "800KB", "forbid", "arg9: model"),
		"devices":     hash("devices"),
	} {
		p.visit(where)
		p.do(p.drawn())
		var picture []byte
		p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			picture, err = cdppage.CaptureScreenshot().WithFormat(cdppage.CaptureScreenshotFormatWebp).WithQuality(70).Do(ctx)
			return err
		}))
		folder := filepath.Join(root, "docs", "review")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".webp"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.check("the pictures")
}
