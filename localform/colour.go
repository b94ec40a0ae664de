package localform

import (
	"cmp"
	"slices"
)

// coloured deals edges from senders to receivers, of k devices each, to as few rounds as the busiest device has edges, so that
// in no round a device sends or receives twice. Where an edge finds no colour that is free at both of its ends, a path of two
// colours is swapped.
func coloured(edges [][2]int64, k int64) [][][2]int64 {
	c := &colouring{edges: edges, colours: busiest(edges, k)}
	for side := range c.at {
		c.at[side] = slices.Repeat([]int{-1}, int(k)*c.colours)
	}
	c.of = slices.Repeat([]int{-1}, len(edges))
	for e := range edges {
		x, y := c.free(0, edges[e][0]), c.free(1, edges[e][1])
		if x != y {
			c.swap(edges[e][1], x, y)
		}
		c.set(e, x)
	}
	rounds := make([][][2]int64, c.colours)
	for e, colour := range c.of {
		rounds[colour] = append(rounds[colour], edges[e])
	}
	for _, r := range rounds {
		slices.SortFunc(r, func(a, b [2]int64) int { return cmp.Compare(a[1], b[1]) })
	}
	return rounds
}

// busiest returns the most edges that a device sends or receives along.
func busiest(edges [][2]int64, k int64) int {
	degree := [2][]int{make([]int, k), make([]int, k)}
	most := 0
	for _, e := range edges {
		for side := range degree {
			degree[side][e[side]]++
			most = max(most, degree[side][e[side]])
		}
	}
	return most
}

// colouring is an edge colouring in the making: of each device, as a sender and as a receiver, the edge of every colour.
type colouring struct {
	edges   [][2]int64
	colours int
	at      [2][]int
	of      []int // per edge: its colour, -1 for none yet
}

func (c *colouring) slot(device int64, colour int) int { return int(device)*c.colours + colour }

// free returns the first colour that a device has no edge of.
func (c *colouring) free(side int, device int64) int {
	return slices.Index(c.at[side][c.slot(device, 0):c.slot(device+1, 0)], -1)
}

func (c *colouring) set(e, colour int) {
	c.of[e] = colour
	for side, device := range c.edges[e] {
		c.at[side][c.slot(device, colour)] = e
	}
}

// swap exchanges two colours along the path that begins at a receiver with an edge of the first, after which that is free there.
func (c *colouring) swap(receiver int64, x, y int) {
	var path []int
	side, device, colour := 1, receiver, x
	for {
		e := c.at[side][c.slot(device, colour)]
		if e < 0 {
			break
		}
		path = append(path, e)
		side, colour = 1-side, x+y-colour
		device = c.edges[e][side]
	}
	for _, e := range path {
		for side, device := range c.edges[e] {
			c.at[side][c.slot(device, c.of[e])] = -1
		}
	}
	for _, e := range path {
		c.set(e, x+y-c.of[e])
	}
}
