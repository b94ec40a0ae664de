package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"autoshard/api/boltfile"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// Errors of stores.
var (
	ErrUnknown = errors.New("there is no such job")
	ErrReused  = errors.New("the id of the request is that of another one")
	ErrFull    = errors.New("as many jobs have not ended as may")
	ErrStopped = errors.New("the server is shutting down; the job goes on in the next one")
	ErrStore   = errors.New("the store of jobs cannot be read or written")
)

// Buckets of the file. Keys are ids of jobs, which are in the order in which jobs came, but for those of byRequest.
var (
	jobs      = []byte("jobs")      // Job
	requests  = []byte("requests")  // StartJobRequest
	results   = []byte("results")   // PlanResponse: the answer or, before it, the best plan that is kept
	pending   = []byte("pending")   // nothing: jobs that have not ended
	byRequest = []byte("byRequest") // id of the job, by the request's
)

// Store keeps jobs in a file. Every change is on the disk when its method returns.
type Store struct{ db *bbolt.DB }

// Open opens the file of a store, or makes it. One process may have it open. Errors are of class [ErrStore]. A file on a disk that became
// read-only is opened, too: what is there can be read, and what changes it is an error.
func Open(path string) (*Store, error) {
	db, err := boltfile.Open(path, jobs, requests, results, pending, byRequest)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrStore, path, err)
	}
	return &Store{db}, nil
}

// ReadOnly says whether the disk is read-only.
func (s *Store) ReadOnly() bool { return s.db.IsReadOnly() }

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// change changes the file. Errors of the disk are of class ErrStore.
func (s *Store) change(do func(*bbolt.Tx) error) error { return classified(s.db.Update(do)) }

func (s *Store) view(do func(*bbolt.Tx) error) error { return classified(s.db.View(do)) }

func classified(err error) error {
	if err == nil || errors.Is(err, ErrUnknown) || errors.Is(err, ErrReused) || errors.Is(err, ErrFull) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}

// put writes a message.
func put(tx *bbolt.Tx, bucket []byte, id string, m proto.Message) error {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return err
	}
	return tx.Bucket(bucket).Put([]byte(id), text)
}

// get reads a message; found says whether there is one.
func get(tx *bbolt.Tx, bucket []byte, id string, m proto.Message) (found bool, err error) {
	text := tx.Bucket(bucket).Get([]byte(id))
	if text == nil {
		return false, nil
	}
	return true, proto.Unmarshal(text, m)
}

// Add keeps a client's request as a job that waits. Where its id is that of an earlier request, the job of that is returned, and added is
// false; the error is ErrReused where that asked for something else. It is ErrFull where so many jobs have not ended already.
func (s *Store) Add(client string, r *autoshardv1.StartJobRequest, now time.Time, most int) (job *autoshardv1.Job, added bool,
	err error) {
	job = &autoshardv1.Job{}
	err = s.change(func(tx *bbolt.Tx) error {
		if id := tx.Bucket(byRequest).Get([]byte(r.GetRequestId())); id != nil && r.GetRequestId() != "" {
			earlier := &autoshardv1.StartJobRequest{}
			if _, err := get(tx, requests, string(id), earlier); err != nil {
				return err
			}
			if !proto.Equal(earlier, r) {
				return ErrReused
			}
			_, err := get(tx, jobs, string(id), job)
			return err
		}
		if tx.Bucket(pending).Stats().KeyN >= most {
			return ErrFull
		}
		number, err := tx.Bucket(jobs).NextSequence()
		if err != nil {
			return err
		}
		added = true
		job = &autoshardv1.Job{Id: fmt.Sprintf("%016x", number), RequestId: r.GetRequestId(), State: autoshardv1.JobState_JOB_STATE_QUEUED,
			Created: timestamppb.New(now), Client: client}
		if r.GetRequestId() != "" {
			if err := tx.Bucket(byRequest).Put([]byte(r.GetRequestId()), []byte(job.Id)); err != nil {
				return err
			}
		}
		return errors.Join(put(tx, jobs, job.Id, job), put(tx, requests, job.Id, r), tx.Bucket(pending).Put([]byte(job.Id), nil))
	})
	return job, added, err
}

// Job returns a job.
func (s *Store) Job(id string) (*autoshardv1.Job, error) {
	job := &autoshardv1.Job{}
	return job, s.view(func(tx *bbolt.Tx) error { return known(get(tx, jobs, id, job)) })
}

// known is ErrUnknown for what was not found.
func known(found bool, err error) error {
	if err == nil && !found {
		return ErrUnknown
	}
	return err
}

// Request returns what a job is to do.
func (s *Store) Request(id string) (*autoshardv1.StartJobRequest, error) {
	r := &autoshardv1.StartJobRequest{}
	return r, s.view(func(tx *bbolt.Tx) error { return known(get(tx, requests, id, r)) })
}

// Result returns the best plan that is kept of a job, nil where there is none.
func (s *Store) Result(id string) (result *autoshardv1.PlanResponse, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		kept := &autoshardv1.PlanResponse{}
		found, err := get(tx, results, id, kept)
		if found {
			result = kept
		}
		return err
	})
	return result, err
}

// Change changes a job that has not ended, and keeps a result where there is one. A job that has ended stays as it is: it has one answer.
func (s *Store) Change(id string, result *autoshardv1.PlanResponse, do func(*autoshardv1.Job)) (*autoshardv1.Job, error) {
	job := &autoshardv1.Job{}
	return job, s.change(func(tx *bbolt.Tx) error {
		if err := known(get(tx, jobs, id, job)); err != nil || Ended(job) {
			return err
		}
		do(job)
		if result != nil {
			job.HasResult = true
			if err := put(tx, results, id, result); err != nil {
				return err
			}
		}
		if Ended(job) {
			if err := tx.Bucket(pending).Delete([]byte(id)); err != nil {
				return err
			}
		}
		return put(tx, jobs, id, job)
	})
}

// Pending returns the jobs that have not ended, in the order in which they came.
func (s *Store) Pending() (list []*autoshardv1.Job, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(pending).ForEach(func(id, _ []byte) error {
			job := &autoshardv1.Job{}
			list = append(list, job)
			return known(get(tx, jobs, string(id), job))
		})
	})
	return list, err
}

// List returns jobs, the latest first, from the one before an id on; "" is the latest.
func (s *Store) List(before string, most int) (list []*autoshardv1.Job, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(jobs).Cursor()
		key, value := c.Last()
		if before != "" {
			if key, _ = c.Seek([]byte(before)); key != nil {
				key, value = c.Prev()
			} else {
				key, value = c.Last()
			}
		}
		for ; key != nil && len(list) < most; key, value = c.Prev() {
			job := &autoshardv1.Job{}
			if err := proto.Unmarshal(value, job); err != nil {
				return err
			}
			list = append(list, job)
		}
		return nil
	})
	return list, err
}

// Prune forgets jobs that ended before a time, and the oldest of those that ended where there are more than most.
func (s *Store) Prune(before time.Time, most int) error {
	return s.change(func(tx *bbolt.Tx) error {
		var old []*autoshardv1.Job
		surplus := tx.Bucket(jobs).Stats().KeyN - most
		err := tx.Bucket(jobs).ForEach(func(_, value []byte) error {
			job := &autoshardv1.Job{}
			if err := proto.Unmarshal(value, job); err != nil {
				return err
			}
			if Ended(job) && (len(old) < surplus || job.GetEnded().AsTime().Before(before)) {
				old = append(old, job)
			}
			return nil
		})
		for _, job := range old {
			id := []byte(job.Id)
			err = errors.Join(err, tx.Bucket(jobs).Delete(id), tx.Bucket(requests).Delete(id), tx.Bucket(results).Delete(id))
			if bytes.Equal(tx.Bucket(byRequest).Get([]byte(job.RequestId)), id) {
				err = errors.Join(err, tx.Bucket(byRequest).Delete([]byte(job.RequestId)))
			}
		}
		return err
	})
}

// Ended says whether a job has its answer.
func Ended(job *autoshardv1.Job) bool {
	switch job.GetState() {
	case autoshardv1.JobState_JOB_STATE_DONE, autoshardv1.JobState_JOB_STATE_FAILED, autoshardv1.JobState_JOB_STATE_CANCELED:
		return true
	}
	return false
}
