package cmdline

import (
	"time"

	"autoshard"
	"autoshard/internal/config"
	"autoshard/report"
)

// Observation returns what the user wants to be looked at while a program runs.
func Observation(c *config.Config) autoshard.RunOptions {
	o := autoshard.RunOptions{MaxBytes: c.MaxMemory, CheckNaNs: c.CheckNaNs}
	if c.Profile != "" {
		start := time.Now()
		o.Clock = func() time.Duration { return time.Since(start) }
	}
	return o
}

// Profile writes the profile of a run, nil for none: the trace to the user's file, what it sums up to to the standard output.
func (s *Streams) Profile(c *config.Config, p *autoshard.Profile) error {
	if p == nil {
		return nil
	}
	trace, err := p.Trace()
	if err != nil {
		return err
	}
	if err := s.WritePacked(c.Profile, trace); err != nil {
		return err
	}
	return s.Write("", []byte("\n"+report.Measured(p)))
}
