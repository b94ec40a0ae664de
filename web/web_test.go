package web

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The bundle is of the sources that are here.
func TestBundleIsCurrent(t *testing.T) {
	hash := sha256.New()
	add := func(file string) error {
		text, err := os.ReadFile(file)
		fmt.Fprintf(hash, "%s\n%s", filepath.ToSlash(file), text)
		return err
	}
	err := add("package-lock.json")
	for _, folder := range []string{"src", "gen/autoshard", "gen/buf"} {
		err = errors.Join(err, filepath.WalkDir(folder, func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			return add(file)
		}))
	}
	if err != nil {
		t.Fatal(err)
	}
	made, err := read("sources.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x\n", hash.Sum(nil)); got != string(made) {
		t.Error("dist is not of the sources in src and gen: run `npm ci && npm run build` in web")
	}
}

// A server has the page and nothing else, and its policy lets it ask nobody else.
func TestHandler(t *testing.T) {
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	for path, kind := range map[string]string{"/": "text/html", "/app.js": "text/javascript", "/app.css": "text/css"} {
		w := get(path)
		if !Has(path) || w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || w.Body.Len() == 0 {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if p := w.Header().Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "http") {
			t.Errorf("%s has the policy %q", path, p)
		}
	}
	for _, path := range []string{"/index.html", "/dist/app.js", "/../web.go", "/sources.sha256"} {
		if w := get(path); Has(path) || w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// A report holds all that it needs, whatever its parts are called, and is the same each time.
func TestReport(t *testing.T) {
	parts := []Part{{Name: `<script>"&`, Document: json.RawMessage(`{"schema":"x"}`)}}
	page, err := Report(parts)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Report(parts)
	if err != nil || string(page) != string(again) {
		t.Errorf("another report, %v", err)
	}
	text := string(page)
	if !strings.Contains(text, `data-name="&lt;script&gt;&#34;&amp;"`) || strings.Contains(text, "src=") && strings.Contains(text, `src="http`) {
		t.Error("names or sources are not as they should be")
	}
	if _, err := Report([]Part{{Name: "x", Document: func() {}}}); err == nil {
		t.Error("no error for what has no JSON form")
	}
}
