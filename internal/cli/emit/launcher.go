package emit

import (
	"autoshard"
	"autoshard/backend/jax"
)

// launcher returns the text that starts a plan's program on several hosts.
func launcher(plan *autoshard.Plan, form string, hosts int) ([]byte, error) {
	l := jax.Launch{Name: plan.Model, Program: plan.Model + ".py", Hosts: hosts, Devices: 1}
	for _, axis := range plan.Mesh {
		l.Devices *= int(axis.Size)
	}
	return jax.Launcher(form, l)
}
