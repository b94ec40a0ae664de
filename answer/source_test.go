package answer_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"autoshard/answer"
)

// The hash of a file, or of a text, is what sha256sum says of it.
func TestHash(t *testing.T) {
	const want = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := answer.Hash("abc"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	long := strings.Repeat("abc", 100_000)
	whole := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(long)))
	if text, bytes := answer.Hash(long), answer.Hash([]byte(long)); text != whole || bytes != whole {
		t.Errorf("got %s and %s, want %s", text, bytes, whole)
	}
}
