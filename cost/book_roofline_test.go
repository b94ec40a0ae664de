// The book's closed forms of the roofline: vectors state their values, planning prices programs instead.

package cost_test

import "autoshard/cost"

// Intensity returns FLOPs per byte of a product on one chip. It is compute bound where this exceeds the chip's
// critical intensity.
func Intensity(m *cost.Matmul) float64 {
	return m.FLOPs() / (float64(m.BytesA()) + float64(m.BytesB()) + float64(m.BytesC()))
}

// DotIntensity returns FLOPs per byte of the dot product of two vectors of n elements of some bytes.
func DotIntensity(n, size int64) float64 {
	return float64(2*n-1) / float64(size*(2*n+1))
}

// CriticalIntensity returns C/bandwidth in FLOP per byte: what a computation needs to be bound by compute.
func CriticalIntensity(flops, bandwidth float64) float64 { return flops / bandwidth }

// CriticalBatch returns the rows above which x[B,D] w[D,F] with B much smaller than D and F is bound by compute, for
// weights of size bytes an element and C/bandwidth of where they come from (specification: cost.md section 3.4).
func CriticalBatch(size float64, flops, bandwidth float64) float64 {
	return size / 2 * flops / bandwidth
}

// CriticalRows returns the rows above which x[B,D] w[D,F] is bound by compute when all three tensors, of size bytes an
// element, move at bandwidth: the exact form of [CriticalBatch]. It returns 0 where no number of rows suffices.
func CriticalRows(d, f int64, size, flops, bandwidth float64) float64 {
	intensity := flops / bandwidth
	per := 2*float64(d)*float64(f) - intensity*size*(float64(d)+float64(f))
	if per <= 0 {
		return 0
	}
	return intensity * size * float64(d) * float64(f) / per
}

// ContractionBound returns the contracted extent above which an exchange of partial sums hides behind the product that
// makes them: n devices each do 2*D/n operations for an element of size bytes that crosses a link of bandwidth bytes/s
// once (cost.md vector R-03).
func ContractionBound(n int64, size, flops, bandwidth float64) float64 {
	return float64(n) * size * flops / (2 * bandwidth)
}

// CollectiveMatmul returns the time of a product split into m chunks that follow the ring of its gather or
// reduce-scatter: the first chunk needs no communication, and every chunk costs overhead seconds more. A ring that
// walks one way only has half the bandwidth (specification: cost.md section 3.5). m is at least 1.
func CollectiveMatmul(math, net float64, m int64, overhead float64, oneWay bool) float64 {
	if m == 1 {
		return math + overhead
	}
	chunks := float64(m)
	compute, send := math/chunks, net/(chunks-1)
	if oneWay {
		send *= 2
	}
	return compute + (chunks-1)*max(compute, send) + chunks*overhead
}

// Prefetched returns what remains of communication that runs under math seconds of other layers' compute.
func Prefetched(net, math float64) float64 { return max(0, net-math) }
