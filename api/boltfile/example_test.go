package boltfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"autoshard/api/boltfile"
)

// What one process wrote is there for the next one.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file, jobs := filepath.Join(dir, "jobs.db"), []byte("jobs")
	for range 2 {
		db, err := boltfile.Open(file, jobs)
		if err != nil {
			fmt.Println(err)
			return
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			fmt.Printf("%q\n", tx.Bucket(jobs).Get([]byte("1")))
			return tx.Bucket(jobs).Put([]byte("1"), []byte("done"))
		})
		fmt.Println(err, db.Close())
	}
	// Output:
	// ""
	// <nil> <nil>
	// "done"
	// <nil> <nil>
}
