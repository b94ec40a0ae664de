package ir

import "encoding/binary"

// Int64s returns the elements of a constant of i64 as they are stored: one for a splat.
func (d *Dense) Int64s() []int64 {
	if d == nil {
		return nil
	}
	out := make([]int64, len(d.Data)/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(d.Data[8*i:]))
	}
	return out
}
