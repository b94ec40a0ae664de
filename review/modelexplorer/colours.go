package modelexplorer

import (
	"fmt"
	"math"
)

// ink is the colour of texts on the colours below, which are light.
const ink = "#000000"

// heat is the gradient of numbers: white where they are least.
var heat = []Stop{{0, "#ffffff", ink}, {0.5, "#fbc98d", ink}, {1, "#e8703a", ink}}

// colour returns the colour of sharding i of those that a document has, in the order in which they are met. Model Explorer tells what lies
// differently by its colours alone: no two of them are equal. Hues are a golden angle apart, so that those that follow each other are far
// from each other.
func colour(i int) string {
	const golden = 0.6180339887498949
	_, hue := math.Modf(float64(i) * golden)
	light := 0.8 - 0.07*float64(i%3)
	part := func(n float64) int {
		k := math.Mod(n+12*hue, 12)
		return int(math.Round(255 * (light - 0.6*(1-light)*max(-1, min(k-3, 9-k, 1)))))
	}
	return fmt.Sprintf("#%02x%02x%02x", part(0), part(8), part(4))
}
