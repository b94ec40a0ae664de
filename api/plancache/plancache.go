// Package plancache keeps plans in a file, so that a question that was asked before is answered at once, and the search for an answer to
// one that is like it can begin with what was found before.
//
//	cache, err := plancache.Open("plans.db", plancache.Options{Bytes: 1 << 30})
//	response, err := cache.Get(key, time.Now())
//	err = cache.Put(key, like, response, time.Now())
//
// A plan that is kept is valid as long as
//   - the key is the hash of all that the plan depends on: the request, the hardware profile and the version of the program;
//   - the search for it came to its own end: what a deadline cut short depends on the machine;
//   - it is not older than the age that the operator allows.
package plancache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"

	"autoshard/api/boltfile"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// ErrStore is the class of errors of the file.
var ErrStore = errors.New("the cache of plans cannot be read or written")

// Options of a Cache. Zero values stand for the defaults.
type Options struct {
	Bytes int64         // of plans that are kept, the oldest of which make room; default 1 GiB
	Age   time.Duration // after which plans are forgotten; default 30 days
}

// Buckets of the file.
var (
	plans = []byte("plans") // PlanResponse, by key
	kept  = []byte("kept")  // when each plan was put there, by key
	ages  = []byte("ages")  // keys, by that time and key
	likes = []byte("likes") // key of the latest plan, by what it is like
	sums  = []byte("sums")  // bytes of all plans, by total
	total = []byte("total")
)

// Cache keeps plans in a file. Every change is on the disk when its method returns. It may be used by several goroutines.
type Cache struct {
	db      *bbolt.DB
	options Options
}

// Open opens the file of a cache, or makes it. One process may have it open. Errors are of class [ErrStore]. A file on a disk that became
// read-only is opened, too: plans that are there are found, and none is kept.
func Open(path string, o Options) (*Cache, error) {
	if o.Bytes == 0 {
		o.Bytes = 1 << 30
	}
	if o.Age == 0 {
		o.Age = 30 * 24 * time.Hour
	}
	db, err := boltfile.Open(path, plans, kept, ages, likes, sums)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrStore, path, err)
	}
	return &Cache{db, o}, nil
}

// Close closes the file.
func (c *Cache) Close() error { return c.db.Close() }

func (c *Cache) change(do func(*bbolt.Tx) error) error { return classified(c.db.Update(do)) }

func classified(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}

// Get returns the plan of a key, nil where there is none that is young enough. Errors are of class [ErrStore].
func (c *Cache) Get(key string, now time.Time) (response *autoshardv1.PlanResponse, err error) {
	return c.get(now, func(*bbolt.Tx) []byte { return []byte(key) })
}

// Like returns the latest plan that was put there as like this, nil where there is none. Errors are of class [ErrStore].
func (c *Cache) Like(like string, now time.Time) (response *autoshardv1.PlanResponse, err error) {
	return c.get(now, func(tx *bbolt.Tx) []byte { return tx.Bucket(likes).Get([]byte(like)) })
}

func (c *Cache) get(now time.Time, find func(*bbolt.Tx) []byte) (response *autoshardv1.PlanResponse, err error) {
	err = classified(c.db.View(func(tx *bbolt.Tx) error {
		key := find(tx)
		text := tx.Bucket(plans).Get(key)
		if key == nil || text == nil || c.old(tx.Bucket(kept).Get(key), now) {
			return nil
		}
		response = &autoshardv1.PlanResponse{}
		return proto.Unmarshal(text, response)
	}))
	return response, err
}

// old says whether a plan that was put there at a time is too old.
func (c *Cache) old(stamp []byte, now time.Time) bool {
	return len(stamp) != 8 || now.Sub(time.Unix(0, int64(binary.BigEndian.Uint64(stamp)))) > c.options.Age
}

// Put keeps a plan under a key, as the latest one that is like this. Plans that are too old go, and the oldest where there are too many
// bytes; a plan of more bytes than all may have is not kept. Errors are of class [ErrStore].
func (c *Cache) Put(key, like string, response *autoshardv1.PlanResponse, now time.Time) error {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(response)
	if err != nil {
		return classified(err)
	}
	if int64(len(text)) > c.options.Bytes {
		return nil
	}
	stamp := binary.BigEndian.AppendUint64(nil, uint64(now.UnixNano()))
	return c.change(func(tx *bbolt.Tx) error {
		if err := remove(tx, []byte(key)); err != nil {
			return err
		}
		err := errors.Join(tx.Bucket(plans).Put([]byte(key), text), tx.Bucket(kept).Put([]byte(key), stamp),
			tx.Bucket(ages).Put(append(bytes.Clone(stamp), key...), nil), tx.Bucket(likes).Put([]byte(like), []byte(key)),
			add(tx, int64(len(text))))
		if err != nil {
			return err
		}
		return c.prune(tx, now)
	})
}

// remove takes a plan out.
func remove(tx *bbolt.Tx, key []byte) error {
	stamp, text := tx.Bucket(kept).Get(key), tx.Bucket(plans).Get(key)
	if stamp == nil {
		return nil
	}
	return errors.Join(tx.Bucket(ages).Delete(append(bytes.Clone(stamp), key...)), add(tx, -int64(len(text))),
		tx.Bucket(kept).Delete(key), tx.Bucket(plans).Delete(key))
}

// add changes the sum of bytes.
func add(tx *bbolt.Tx, bytes int64) error {
	return tx.Bucket(sums).Put(total, binary.BigEndian.AppendUint64(nil, uint64(sum(tx)+bytes)))
}

func sum(tx *bbolt.Tx) int64 {
	text := tx.Bucket(sums).Get(total)
	if len(text) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(text))
}

// prune takes out what is too old or too much, and what leads to nothing any more.
func (c *Cache) prune(tx *bbolt.Tx, now time.Time) error {
	removed := false
	for {
		at, _ := tx.Bucket(ages).Cursor().First()
		if at == nil || sum(tx) <= c.options.Bytes && !c.old(at[:8], now) {
			break
		}
		if err := remove(tx, bytes.Clone(at[8:])); err != nil {
			return err
		}
		removed = true
	}
	if !removed {
		return nil
	}
	var stale [][]byte
	err := tx.Bucket(likes).ForEach(func(like, key []byte) error {
		if tx.Bucket(kept).Get(key) == nil {
			stale = append(stale, bytes.Clone(like))
		}
		return nil
	})
	for _, like := range stale {
		err = errors.Join(err, tx.Bucket(likes).Delete(like))
	}
	return err
}
