package answer_test

import (
	"testing"

	"autoshard/answer"
)

// The hash of a file is what sha256sum says of it.
func TestHash(t *testing.T) {
	const want = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := answer.Hash([]byte("abc")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
