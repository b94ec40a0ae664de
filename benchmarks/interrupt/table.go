package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"autoshard/benchmarks/site"
)

// report returns the tables.
func (r *runner) report() string {
	wrong := 0
	for i := range r.results {
		if r.results[i].err != nil {
			wrong++
		}
	}
	out := fmt.Sprintf("# Interruptions\n\n`go run ./benchmarks/interrupt -trials %d -seed %d -most %v`; %s; commit %s. What is checked "+
		"stands there. %d of %d answers are wrong or late.\n\n", r.trials, r.seed, r.most, site.Machine(), site.Commit(), wrong, len(r.results))
	out += "Late is how long after the timeout, interrupt or deadline the answer came, or, where that comes before the baselines are known, " +
		"after the time that a plan without search takes; for requests it is when the only slot was free again. Answers before it count " +
		"as 0.\n\n| model and mesh | without search | interruption | trials | answers | late: median | 99 % | longest |\n" +
		"|---|---|---|---|---|---|---|---|\n"
	for i := range r.jobs {
		for _, k := range kinds {
			out += r.row(&r.jobs[i], k)
		}
	}
	return out
}

// row sums up the trials of a kind with a job.
func (r *runner) row(j *job, k kind) string {
	count := map[string]int{}
	var late []time.Duration
	trials := 0
	for i := range r.results {
		a := &r.results[i]
		if a.trial.job != j || a.trial.kind != k {
			continue
		}
		trials++
		if a.err != nil {
			a.outcome = "**wrong or late**"
		}
		count[a.outcome]++
		if a.timed {
			late = append(late, max(0, a.late))
		}
	}
	if trials == 0 {
		return ""
	}
	var outcomes []string
	for name, n := range count {
		outcomes = append(outcomes, fmt.Sprintf("%s: %d", name, n))
	}
	slices.Sort(outcomes)
	slices.Sort(late)
	at := func(share float64) string {
		if len(late) == 0 {
			return ""
		}
		return site.Milliseconds(late[int(share*float64(len(late)-1))].Seconds())
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %s | %s | %s | %s |\n", j.name(), site.Milliseconds(j.quick.Seconds()), k, trials,
		strings.Join(outcomes, "; "), at(0.5), at(0.99), at(1))
}

// failed joins what is wrong with the answers.
func (r *runner) failed() error {
	var all []error
	for i := range r.results {
		if err := r.results[i].err; err != nil {
			all = append(all, fmt.Errorf("trial %d: %w", r.results[i].trial.number, err))
		}
	}
	return errors.Join(all...)
}
