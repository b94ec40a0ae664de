package cmdline

import (
	"context"
	"strings"
	"time"

	"autoshard"
	"autoshard/cost"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/rewrites"
)

// From reads an earlier plan, and gives options that nobody gave its values. It returns the plan and, where the user names no model, the
// file of its model. A note says where that is not the program that was planned any more.
func (s *Streams) From(ctx context.Context, c *config.Config, from, model string) (p *autoshard.Plan, file string, err error) {
	if p, err = s.Plan(ctx, from); err != nil {
		return nil, "", err
	}
	if err := takeOver(c, p, from); err != nil {
		return nil, "", err
	}
	if model == "" {
		model = p.Options.Model.File
	}
	name, text, err := s.Read(ctx, model)
	if err != nil {
		return nil, "", err
	}
	if hash := autoshard.HashText(text); hash != p.Hashes.Model {
		s.Note("%s is not the program that %s was made from: its hash is %s, not %s", name, Name(from), hash, p.Hashes.Model)
	}
	return p, model, nil
}

// takeOver gives options that nobody gave the values of a plan. Its pins come before those of the options.
func takeOver(c *config.Config, p *autoshard.Plan, from string) error {
	o := &p.Options
	for option, set := range map[string]func(){
		"mesh":          func() { c.Mesh = p.Mesh },
		"memory":        func() { c.Memory = p.Memory },
		"steps":         func() { c.Steps = o.Steps },
		"seed":          func() { c.Seed = o.Seed },
		"search-memory": func() { c.Search = o.SearchMemory },
		"no-sub-axes":   func() { c.WholeAxes = o.WholeAxes },
		"taste":         func() { c.Taste = o.Taste },
		"dim":           func() { c.Sizes = o.Model.Sizes },
		"platform":      func() { c.Platform = o.Model.Platform },
		"rule":          func() { c.Rules = o.Model.Rules },
		"trip-count": func() {
			for _, t := range o.TripCounts {
				c.Trips = append(c.Trips, config.Trip(t))
			}
		},
	} {
		if !c.Given(option) {
			set()
		}
	}
	var pins, forbidden []string
	for _, pin := range o.Pins {
		pins = append(pins, pin.Value+"="+pin.Sharding)
	}
	for _, f := range o.Forbidden {
		forbidden = append(forbidden, f.Value+": "+strings.Join(f.Axes, ","))
	}
	c.Pins, c.Forbidden = append(pins, c.Pins...), append(forbidden, c.Forbidden...)
	if !c.Given("budget") {
		for i := range o.Budgets {
			c.Budgets = append(c.Budgets, o.Budgets[i].String())
		}
	}
	if !c.Given("without") && !c.Given("collective-matmul") && !c.Given("merge-collectives") {
		without, unknown := rewrites.Parse(o.Without)
		if unknown != "" {
			return diag.Invalid(diag.BadOption, diag.Position{File: Name(from)}, "the plan was made without the rewrite %q, which this "+
				"version does not have", unknown)
		}
		c.Without = without
	}
	hw, err := ProfileOf(p, c, from)
	if err != nil {
		return err
	}
	c.Hardware = hw
	return nil
}

// ProfileOf returns the hardware of --hardware or, without it, the built-in profile that the plan of a file was made for: on the part of
// the network of --topology or, without that, on the one of the plan where it is its hardware.
func ProfileOf(p *autoshard.Plan, c *config.Config, file string) (hw cost.Hardware, err error) {
	if hw = c.Hardware; !c.Given("hardware") {
		if hw, err = cost.Lookup(p.Hardware); err != nil {
			return hw, diag.Invalid(diag.BadOption, diag.Position{File: Name(file)}, "the plan is for hardware %q, which is none of the "+
				"built-in: name its file with --hardware", p.Hardware)
		}
	}
	topology := c.Hardware.Topology
	if !c.Given("topology") && hw.Name == p.Hardware {
		topology = p.Options.Topology
	}
	if topology == "" {
		return hw, nil
	}
	return hw.On(topology)
}

// steer reads what the options pin, forbid and allow to be sent.
func steer(c *config.Config, o *autoshard.PlanOptions) error {
	for _, text := range c.Pins {
		pin, err := autoshard.ParsePin(text)
		if err != nil {
			return err
		}
		o.Pins = append(o.Pins, pin)
	}
	for _, text := range c.Forbidden {
		f, err := autoshard.ParseForbid(text)
		if err != nil {
			return err
		}
		o.Forbidden = append(o.Forbidden, f)
	}
	for _, text := range c.Budgets {
		b, err := autoshard.ParseBudget(text)
		if err != nil {
			return err
		}
		o.Budgets = append(o.Budgets, b)
	}
	return nil
}

// Planning returns the context for planning: an interrupt asks for the best plan so far, and so does the end of the time of --timeout.
func Planning(ctx context.Context, c *config.Config) (context.Context, context.CancelFunc) {
	planning, enough := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { enough(autoshard.ErrEnough) })
	end := context.CancelFunc(func() {})
	if c.Timeout > 0 {
		planning, end = context.WithTimeout(planning, c.Timeout)
	}
	return planning, func() { end(); stop(); enough(nil) }
}

// PlanOptions returns what the options ask of a plan.
func PlanOptions(c *config.Config, progress func(autoshard.Progress)) (autoshard.PlanOptions, error) {
	o := autoshard.PlanOptions{Mesh: c.Mesh, Devices: c.MeshDevices, Hardware: c.Hardware, Memory: c.Memory, Steps: c.Steps,
		SearchMemory: c.Search, Seed: c.Seed, Without: c.Without, WholeAxes: c.WholeAxes, Progress: progress, Now: time.Now}
	if o.Taste = c.Taste; o.Taste == 0 {
		o.Taste = -1 // 0 is the default there
	}
	for _, t := range c.Trips {
		o.TripCounts = append(o.TripCounts, autoshard.TripCount(t))
	}
	return o, steer(c, &o)
}
