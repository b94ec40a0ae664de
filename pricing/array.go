package pricing

import (
	"autoshard/cost/notation"
	"autoshard/ir/dtype"
)

// ArraySchema identifies the JSON form of an ArrayAnswer.
const ArraySchema = "autoshard.array/v1"

// ArrayRequest asks what a sharded array takes.
type ArrayRequest struct {
	Setting
	Array string // bf16[B_X, D_Y]
}

// ArrayAnswer is what each device holds of an array, and what that takes. Times are in seconds, sizes in bytes.
type ArrayAnswer struct {
	Schema string `json:"schema"`
	Array  string `json:"array"`
	Place
	Whole       string  `json:"whole"` // its type
	Block       string  `json:"block"` // the type of a block
	Bytes       int64   `json:"bytes"` // of the array
	DeviceBytes int64   `json:"deviceBytes"`
	FleetBytes  int64   `json:"fleetBytes"`  // of all devices
	Copies      float64 `json:"copies"`      // of the array in the fleet
	LoadSeconds float64 `json:"loadSeconds"` // of reading a block from memory
	Ours        float64 `json:"ours"`        // the same by the conventions that plans are made by
	Fits        Fit     `json:"fits"`
}

// Fit is the smallest power of two of devices that hold an array, evenly cut.
type Fit struct {
	Devices int64   `json:"devices"`
	Slice   []int64 `json:"slice,omitempty"` // of a torus
}

// arrayFile names the text of an array in errors.
const arrayFile = "ARRAY"

// Array returns what a sharded array takes. Errors are of class diag.ErrInvalid or diag.ErrTooLarge.
func Array(r *ArrayRequest) (*ArrayAnswer, error) {
	q, err := r.Setting.read()
	if err != nil {
		return nil, err
	}
	parsed, err := notation.ParseArray(arrayFile, r.Array, &q.mesh)
	if err != nil {
		return nil, err
	}
	a, err := q.sized(arrayFile, r.Array, parsed)
	if err != nil {
		return nil, err
	}
	out := &ArrayAnswer{Schema: ArraySchema, Array: r.Array, Place: q.place(), Whole: dtype.Format(a.dtype, a.shape),
		Block: dtype.Format(a.dtype, a.local()), Bytes: a.sizeOf(a.shape), DeviceBytes: a.bytes()}
	out.FleetBytes = out.DeviceBytes * q.asked.Devices()
	out.Copies = float64(out.FleetBytes) / float64(out.Bytes)
	out.LoadSeconds, out.Ours = load(q.asked, out.DeviceBytes), load(q.ours, out.DeviceBytes)
	out.Fits.Devices, out.Fits.Slice = q.asked.Hardware().SmallestSlice(float64(out.Bytes))
	return out, nil
}
