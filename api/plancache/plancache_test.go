package plancache

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

func open(t *testing.T, o Options) *Cache {
	t.Helper()
	c, err := Open(filepath.Join(t.TempDir(), "plans"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func put(t *testing.T, c *Cache, key, like, text string, at time.Time) {
	t.Helper()
	if err := c.Put(key, like, &autoshardv1.PlanResponse{Annotated: text}, at); err != nil {
		t.Fatal(err)
	}
}

// texts returns what the cache has for a key and for what is like something, "" for nothing.
func texts(t *testing.T, c *Cache, key, like string, at time.Time) (exact, near string) {
	t.Helper()
	a, err := c.Get(key, at)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Like(like, at)
	if err != nil {
		t.Fatal(err)
	}
	return a.GetAnnotated(), b.GetAnnotated()
}

// What was put there comes back by its key, and the latest by what it is like.
func TestKeys(t *testing.T) {
	c, now := open(t, Options{}), time.Now()
	put(t, c, "a", "x", "one", now)
	put(t, c, "b", "x", "two", now)
	put(t, c, "a", "y", "three", now.Add(time.Second))
	for _, w := range [][4]string{{"a", "x", "three", "two"}, {"b", "y", "two", "three"}, {"c", "z", "", ""}} {
		if exact, near := texts(t, c, w[0], w[1], now); exact != w[2] || near != w[3] {
			t.Errorf("%v: %q and %q", w, exact, near)
		}
	}
}

// Old plans are not answers, and go with the next one that is put there.
func TestAge(t *testing.T) {
	c, now := open(t, Options{Age: time.Hour}), time.Now()
	put(t, c, "a", "x", "one", now)
	later := now.Add(2 * time.Hour)
	if exact, near := texts(t, c, "a", "x", later); exact != "" || near != "" {
		t.Errorf("after two hours: %q and %q", exact, near)
	}
	put(t, c, "b", "y", "two", later)
	if n := count(t, c); n != [4]int{1, 1, 1, 1} {
		t.Errorf("entries are %v", n)
	}
}

// The oldest plans make room, and one that is larger than all room is not kept.
func TestSize(t *testing.T) {
	c, now := open(t, Options{Bytes: 1000}), time.Now()
	for i := range 20 {
		put(t, c, fmt.Sprint(i), fmt.Sprint("like ", i), strings.Repeat("x", 200), now.Add(time.Duration(i)))
	}
	if n := count(t, c); n != [4]int{4, 4, 4, 4} {
		t.Errorf("entries are %v", n)
	}
	if exact, near := texts(t, c, "19", "like 16", now); exact == "" || near == "" {
		t.Error("the latest are gone")
	}
	put(t, c, "large", "large", strings.Repeat("x", 2000), now)
	if exact, near := texts(t, c, "large", "like 19", now); exact != "" || near == "" {
		t.Error("a large plan is kept, or others went for it")
	}
	for i := range 50 { // under one key
		put(t, c, "19", "again", strings.Repeat("x", 200), now.Add(time.Duration(i)))
	}
	if n := count(t, c); n[0] != 4 {
		t.Errorf("entries are %v", n)
	}
}

// count returns how many entries the buckets have.
func count(t *testing.T, c *Cache) (n [4]int) {
	t.Helper()
	err := c.db.View(func(tx *bbolt.Tx) error {
		for i, name := range [][]byte{plans, kept, ages, likes} {
			n[i] = tx.Bucket(name).Stats().KeyN
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Plans are there after the file was closed; a file that cannot be written says so.
func TestFiles(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "plans"), time.Now()
	c, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, c, "a", "x", "one", now)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Put("b", "x", &autoshardv1.PlanResponse{}, now); !errors.Is(err, ErrStore) {
		t.Errorf("a closed file: %v", err)
	}
	if c, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if exact, _ := texts(t, c, "a", "x", now); exact != "one" {
		t.Errorf("after closing: %q", exact)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no", "plans"), Options{}); !errors.Is(err, ErrStore) {
		t.Errorf("no folder: %v", err)
	}
}

func ExampleCache() {
	cache, err := Open(filepath.Join("no", "such", "folder"), Options{Bytes: 1 << 20, Age: time.Hour})
	fmt.Println(cache == nil, errors.Is(err, ErrStore))
	// Output: true true
}
