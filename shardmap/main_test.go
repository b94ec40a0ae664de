package shardmap_test

import (
	"os"
	"testing"

	"autoshard/internal/testkit"
)

// TestMain has programs run in memory that is full of garbage where nobody may read it.
func TestMain(m *testing.M) { os.Exit(testkit.InGarbage(m)) }
