package cost

import (
	"fmt"

	"autoshard/subaxis"
)

// LinkNames names the parts of the network that a device has links of its own to: the physical axes of a torus, the network between
// slices, or the levels of switches.
func (t *Topology) LinkNames() (names []string) {
	for i, a := range t.physical {
		name := fmt.Sprintf("axis %d", i)
		if a.dcn {
			name = "between slices"
		}
		names = append(names, name)
	}
	for i := range t.hw.Levels {
		names = append(names, "level "+t.hw.Levels[i].Name)
	}
	return names
}

// Links returns which of them a communication over axes uses. Communications that use different ones can run at once.
func (t *Topology) Links(axes []subaxis.Ref) []int { return t.linksOf(t.placed(axes)) }

// LinksAmong returns the same of a communication in groups, as [Topology.Among] has them.
func (t *Topology) LinksAmong(groups [][]int64) []int { return t.linksOf(t.among(groups)) }

func (t *Topology) linksOf(p placement) (links []int) {
	if t.hw.Torus == nil {
		for i, r := range t.reaches(p) {
			if r.children > 1 {
				links = append(links, i)
			}
		}
		return links
	}
	if p.scattered != nil {
		return p.scattered.ring.links
	}
	var parts []part
	for _, r := range p.axes {
		parts = append(parts, t.partsOf(r)...)
	}
	for _, p := range mergeParts(parts) {
		if p.size > 1 {
			links = append(links, p.axis)
		}
	}
	return links
}
