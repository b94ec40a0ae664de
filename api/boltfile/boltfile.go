// Package boltfile opens the files in which a server keeps jobs and plans.
//
//	db, err := boltfile.Open("jobs.db", []byte("jobs"), []byte("results"))
package boltfile

import (
	"errors"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// Open opens a file with some buckets, or makes it. One process may have it open; another one waits for a second. A file on a disk that
// became read-only is opened for reading, with the buckets that it was made with. Errors are those of the disk and of bbolt.
func Open(path string, buckets ...[]byte) (*bbolt.DB, error) {
	options := bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType}
	db, err := bbolt.Open(path, 0o600, &options)
	if errors.Is(err, syscall.EROFS) {
		options.ReadOnly = true
		return bbolt.Open(path, 0o600, &options)
	}
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
