package serve

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/api"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
)

func TestTokens(t *testing.T) {
	s := cmdline.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	read := func(text string) ([]api.Token, error) {
		file := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return readTokens(t.Context(), s, file)
	}
	got, err := read("# who\nalice secret 60\n\n  bob other\n")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]api.Token{{Name: "alice", Secret: "secret", PerMinute: 60}, {Name: "bob", Secret: "other"}}, got); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{"alice": "1", "\nalice a b": "2", "a b 0": "1", "a b 1 c": "1", "": "no token",
		"# x": "no token"} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "alice a") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if none, err := readTokens(t.Context(), s, ""); none != nil || err != nil {
		t.Errorf("without a file: %v, %v", none, err)
	}
}

func TestWrongCertificates(t *testing.T) {
	if got, err := certificate(&config.Serve{}); got != nil || err != nil {
		t.Errorf("none: %v, %v", got, err)
	}
	if _, err := certificate(&config.Serve{TLSCert: "nowhere.pem"}); err == nil {
		t.Error("no error for a certificate that is not there")
	}
}
