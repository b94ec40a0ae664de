package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"time"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// killed starts jobs in servers that are killed at random moments, and says what became of them in a sentence.
func (b *built) killed(ctx context.Context, text string, kills int) (string, error) {
	file := filepath.Join(b.dir, "jobs")
	ids := map[string]string{} // of jobs that were accepted, by request
	for i := range kills {
		s, err := b.start("--jobs", file)
		if err != nil {
			return "", err
		}
		end := time.AfterFunc(rand.N(time.Second), s.kill)
		for j := 0; ; j++ { // until it is gone
			name := fmt.Sprint(i, "-", j)
			r, err := s.client(&http.Transport{DisableKeepAlives: true}, 0).StartJob(ctx, &autoshardv1.StartJobRequest{Plan: request(text),
				RequestId: name})
			if err != nil {
				break
			}
			ids[name] = r.GetJob().GetId()
			time.Sleep(rand.N(300 * time.Millisecond))
		}
		end.Stop()
		s.kill()
	}
	s, err := b.start("--jobs", file)
	if err != nil {
		return "", err
	}
	done, given, wrong, err := s.answers(ctx, ids)
	line := fmt.Sprintf("\nServers with jobs, killed at %d random moments: of %d jobs that were accepted %d have their plan and %d were "+
		"given up after five attempts, %d are lost or have no one answer.\n", kills, len(ids), done, given, wrong)
	if wrong > 0 {
		err = errors.Join(err, errors.New(line))
	}
	return line, errors.Join(err, s.stop())
}

// answers waits for jobs, and counts those that have the plan, were given up, or have another end.
func (s *server) answers(ctx context.Context, ids map[string]string) (done, given, wrong int, err error) {
	c := s.client(&http.Transport{}, 0)
	plan := ""
	for _, id := range ids {
		stream, err := c.WatchJob(ctx, &autoshardv1.WatchJobRequest{Id: id})
		if err != nil {
			return done, given, wrong, err
		}
		for stream.Receive() {
		}
		got, err := c.GetJob(ctx, &autoshardv1.GetJobRequest{Id: id, Result: true})
		if err = errors.Join(err, stream.Close()); err != nil {
			return done, given, wrong, err
		}
		hash := got.GetResult().GetPlan().GetHashes().GetPlan()
		if plan == "" {
			plan = hash
		}
		switch job := got.GetJob(); {
		case job.GetState() == autoshardv1.JobState_JOB_STATE_DONE && hash != "" && hash == plan:
			done++
		case job.GetState() == autoshardv1.JobState_JOB_STATE_FAILED && job.GetAttempts() > 5:
			given++
		default:
			wrong++
		}
	}
	return done, given, wrong, nil
}
