package calibrate

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/cost"
	"autoshard/cost/datasheet"
	"autoshard/internal/diag"
)

// Calibration are the fits of all kinds.
type Calibration struct {
	Devices int64
	Lines   []Line
}

// Fit fits all kinds of samples. The error is of class diag.ErrInvalid where one that a profile needs has too few samples, or times that do
// not grow with the amount.
func Fit(samples []Sample, devices int64) (*Calibration, error) {
	c := &Calibration{Devices: devices}
	for _, kind := range kinds {
		for _, dtype := range dtypes {
			var group []Sample
			for _, s := range samples {
				if s.Kind == kind && s.DType == dtype {
					group = append(group, s)
				}
			}
			if len(group) == 0 {
				continue
			}
			line, ok := fitLine(group)
			if !ok && (kind == Meeting || kind == Arrays) { // groups may all be alike, and arrays be sent as one: nothing grows
				continue
			}
			if !ok {
				return nil, diag.Invalid(diag.BackendFailed, diag.Position{}, "the %d times of %s in %s do not grow with the amount: measure on a "+
					"machine that does nothing else", len(group), kind, dtype)
			}
			c.Lines = append(c.Lines, line)
		}
	}
	for _, kind := range []Kind{Matmul, Vector, Memory, AllGather, AllReduce, Launch} {
		if c.find(kind, dtypes[0]) == nil {
			return nil, diag.Invalid(diag.BackendFailed, diag.Position{}, "there are no times of %s", kind)
		}
	}
	return c, nil
}

// find returns the fit of a kind, nil if there is none.
func (c *Calibration) find(kind Kind, dtype string) *Line {
	i := slices.IndexFunc(c.Lines, func(l Line) bool { return l.Kind == kind && l.DType == dtype })
	if i < 0 {
		return nil
	}
	return &c.Lines[i]
}

// starts are what collectives take before they send: at least, for each device of a group but one, and for each step of a ring.
type starts struct{ dispatch, meeting, step float64 }

// starts splits the latencies by the formulas of cost.md section 2.5: a ring of n-1 steps for a gather, twice as many for a reduction. What
// a gather takes longer in larger groups, if several sizes were measured, and beyond those steps, is that their devices meet.
func (c *Calibration) starts() (s starts) {
	gather, reduce := c.find(AllGather, dtypes[0]), c.find(AllReduce, dtypes[0])
	n := c.members()
	s.step = max(0, (reduce.Latency-gather.Latency)/(n-1))
	s.dispatch = max(0, gather.Latency-(n-1)*s.step)
	if groups := c.find(Meeting, dtypes[0]); groups != nil {
		s.dispatch, s.meeting = groups.Latency, max(0, 1/groups.Rate-s.step)
	}
	return s
}

// members are the devices of the group of all.
func (c *Calibration) members() float64 { return float64(max(2, c.Devices)) }

// bandwidth returns that of the links of the devices as one level of switches, by the same formulas.
func (c *Calibration) bandwidth() float64 {
	return c.find(AllGather, dtypes[0]).Rate * (c.members() - 1) / c.members()
}

// arrays returns the part of what a collective of one array takes before it sends that each further array takes; 0 where they do not show.
func (c *Calibration) arrays() float64 {
	line := c.find(Arrays, dtypes[0])
	if line == nil {
		return 0
	}
	return min(1, 1/line.Rate/line.Seconds(1))
}

// Profile returns a hardware profile as YAML: what was fitted, with its error, and the memory of another profile.
func (c *Calibration) Profile(name, when string, base *cost.Hardware) string {
	var b strings.Builder
	value := func(path string, x float64, line *Line) {
		fmt.Fprintf(&b, "%s: {value: %.4g, kind: %s, source: fit}", path, x, datasheet.Measured)
		if line != nil {
			fmt.Fprintf(&b, " # ± %.2g %%; held-back sizes within %.2g %%", 100*line.RateError/line.Rate, 100*line.Error)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "name: %s\nsummary: measured on %d devices of JAX\nsources:\n  fit: %q\n  base: %q\n", name, c.Devices,
		"autoshard calibrate, "+when, "the profile "+base.Name)
	f32, bf16 := c.find(Matmul, "f32"), c.find(Matmul, "bf16")
	if bf16 == nil {
		bf16 = f32
	}
	memory, vector, launch := c.find(Memory, dtypes[0]), c.find(Vector, dtypes[0]), c.find(Launch, dtypes[0])
	b.WriteString("matrix:\n")
	value("  bf16", bf16.Rate, bf16)
	value("  f32", f32.Rate, f32)
	value("vectorFLOPs", vector.Rate, vector)
	value("launch", 1/launch.Rate, launch)
	value("hbmBandwidth", memory.Rate, memory)
	starts := c.starts()
	value("dispatch", starts.dispatch, nil)
	value("meeting", starts.meeting, c.find(Meeting, dtypes[0]))
	value("arrays", c.arrays(), c.find(Arrays, dtypes[0]))
	fmt.Fprintf(&b, "hbmBytes: {value: %.10g, kind: %s, source: base}\nlevels:\n  - name: host\n", base.HBMBytes, datasheet.Guessed)
	value("    degree", c.members(), nil)
	value("    bandwidth", c.bandwidth(), c.find(AllGather, dtypes[0]))
	value("    step", starts.step, nil)
	return b.String()
}
