// Package web is the page that shows propagations and plans in a browser, as a server has it at / and as one file:
//
//	http.Handle("/", web.Handler())
//	html, err := web.Report([]web.Part{{Name: "plan.json", Document: document}}) // works from disk
//
// Its sources are in src, in TypeScript; `npm run build` writes dist, which is part of this package (README.md).
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed dist
var dist embed.FS

// files are what a server has of the page, by path.
var files = map[string]struct{ name, kind string }{
	"/":        {"index.html", "text/html; charset=utf-8"},
	"/app.js":  {"app.js", "text/javascript; charset=utf-8"},
	"/app.css": {"app.css", "text/css; charset=utf-8"},
}

// policy lets the page ask nobody but its server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

// Has says whether a path is one of the page.
func Has(path string) bool {
	_, ok := files[path]
	return ok
}

// Handler serves the page. It has no secrets: what it shows it asks the services for.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		text, err := read(f.name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.kind)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(text) // the client is gone where this fails
	})
}

func read(name string) ([]byte, error) { return fs.ReadFile(dist, "dist/"+name) }

// Part is a document of a report, and what it is called in it.
type Part struct {
	Name     string
	Document any // whose JSON form is a review.Document
}

// Report returns the page as one file that shows documents without a server. Equal parts give equal bytes.
func Report(parts []Part) ([]byte, error) {
	script, err := read("app.js")
	if err != nil {
		return nil, err
	}
	style, err := read("app.css")
	if err != nil {
		return nil, err
	}
	if bytes.Contains(script, []byte("</script")) || bytes.Contains(style, []byte("</style")) {
		return nil, fmt.Errorf("the page cannot be one file: its script or style sheet ends the element that holds it")
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">
<title>autoshard</title>
<link rel="icon" href="data:,">
<style>%s</style>
</head>
<body>
<div id="app"></div>
`, sum(script), sum(style), style)
	for _, p := range parts {
		packed, err := pack(p.Document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		fmt.Fprintf(&b, "<script type=\"application/gzip\" data-name=\"%s\">%s</script>\n", html.EscapeString(p.Name), packed)
	}
	fmt.Fprintf(&b, "<script>%s</script>\n</body>\n</html>\n", script)
	return []byte(b.String()), nil
}

// sum is how a policy names a text that is in the page itself.
func sum(text []byte) string {
	s := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(s[:])
}

// pack returns a document as compressed JSON in base64.
func pack(document any) (string, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err = z.Write(text); err == nil {
		err = z.Close()
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}
