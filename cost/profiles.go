package cost

import (
	"cmp"
	"slices"
	"strings"

	"autoshard/internal/diag"
)

// Start values fitted to measurements (cost.md section 4.9). The HBM share of TPUs is that of the decode layer C-07
// (327 of 365 us), that of GPUs the streaming add G-03; the matrix share of GPUs is what AutoParallel charges.
var (
	tpuEfficiency = Efficiency{Math: 0.95, HBM: 0.9, Ring: 0.95, Line: 0.82}
	gpuEfficiency = Efficiency{Math: 0.7, HBM: 0.94, Ring: 0.82, Line: 0.82}
)

// tpu fills in what the TPU generations share. F32 operands are multiplied in one bf16 pass, XLA's default precision.
func tpu(h Hardware) Hardware {
	h.Matrix.F32 = h.Matrix.BF16
	h.Torus.HopLatency = 1e-6
	h.Dispatch = 5e-6
	h.Efficiency = tpuEfficiency
	return h
}

// gpu fills in what the GPU generations share: F32 operands are multiplied as TF32 at half the bf16 rate, tensor core
// tiles of 16, the launch floor of G-04, and NCCL's LL128 steps after its LL base (cost.md section 1.3).
func gpu(h Hardware) Hardware {
	h.Matrix.F32 = h.Matrix.BF16 / 2
	h.Tile = 16
	h.Launch = 1.5e-6
	h.Dispatch = 6.6e-6
	h.HostChips = 8
	h.Efficiency = gpuEfficiency
	for i := range h.Levels {
		h.Levels[i].Step = 4e-6
	}
	h.Levels[0].Step = 1.9e-6
	return h
}

// fabric returns the three levels of a cluster: NVLink domains of size node, superunits of size leaf, four of which
// hang under a spine.
func fabric(node int64, egress float64, leaf int64, nodeEgress float64, reduces bool) []Level {
	return []Level{
		{Name: "node", Degree: node, Bandwidth: egress, Reduces: reduces},
		{Name: "leaf", Degree: leaf, Bandwidth: nodeEgress, Reduces: reduces},
		{Name: "spine", Degree: 4, Bandwidth: float64(leaf) * nodeEgress, Reduces: reduces},
	}
}

// The vector rates of TPUs are cores x 8 x 128 lanes x 4 units x clock, which cost.md T-09 gives for v5p; clocks of
// the others are those of public documents.
func profiles() []Hardware {
	return []Hardware{
		tpu(Hardware{
			Name: "tpu-v3", Matrix: Rates{BF16: 1.4e14, Int8: 1.4e14}, VectorFLOPs: VectorRate(2, 8*128, 4, 0.94e9), Tile: 128,
			HBMBytes: 32e9, HBMBandwidth: 9e11, PCIe: 1.5e10, Cores: 2, HostChips: 8,
			Torus: &Torus{Link: 1e11, Shape: []int64{32, 32}, Wrap: WrapFull, DCN: 6.25e9},
		}),
		tpu(Hardware{
			Name: "tpu-v4p", Matrix: Rates{BF16: 2.75e14, Int8: 2.75e14}, VectorFLOPs: VectorRate(2, 8*128, 4, 1.05e9), Tile: 128,
			HBMBytes: 32e9, HBMBandwidth: 1.2e12, PCIe: 1.5e10, Cores: 2, HostChips: 4,
			Torus: &Torus{Link: 4.5e10, Shape: []int64{16, 16, 16}, Wrap: WrapCubes, DCN: 6.25e9},
		}),
		tpu(Hardware{
			Name: "tpu-v5e", Matrix: Rates{BF16: 1.97e14, Int8: 3.94e14}, VectorFLOPs: VectorRate(1, 8*128, 4, 1.5e9), Tile: 128,
			HBMBytes: 16e9, HBMBandwidth: 8.1e11, PCIe: 1.5e10, Cores: 1, HostChips: 8,
			Torus: &Torus{Link: 4.5e10, Shape: []int64{16, 16}, Wrap: WrapFull, DCN: 3.125e9},
		}),
		tpu(Hardware{
			Name: "tpu-v5p", Matrix: Rates{BF16: 4.59e14, Int8: 9.18e14, FP8: 4.59e14}, VectorFLOPs: VectorRate(2, 8*128, 4, 1.75e9), Tile: 128,
			HBMBytes: 96e9, HBMBandwidth: 2.8e12, PCIe: 1.6e10, Cores: 2, HostChips: 4,
			Torus: &Torus{Link: 9e10, Shape: []int64{16, 20, 28}, Wrap: WrapCubes, DCN: 6.25e9},
		}),
		tpu(Hardware{
			Name: "tpu-v6e", Matrix: Rates{BF16: 9.2e14, Int8: 1.84e15, FP8: 9.18e14}, VectorFLOPs: VectorRate(1, 8*128, 4, 1.75e9), Tile: 256,
			HBMBytes: 32e9, HBMBandwidth: 1.6e12, PCIe: 3.2e10, Cores: 1, HostChips: 8,
			Torus: &Torus{Link: 9e10, Shape: []int64{16, 16}, Wrap: WrapFull, DCN: 1.25e10},
		}),
		tpu(Hardware{
			Name: "tpu-v7", Matrix: Rates{BF16: 2.307e15, FP8: 4.614e15}, VectorFLOPs: VectorRate(2, 8*128, 4, 1.75e9), Tile: 256,
			HBMBytes: 192 * (1 << 30), HBMBandwidth: 7.38e12, PCIe: 3.2e10, Cores: 2, HostChips: 4,
			Torus: &Torus{Link: 9e10, Shape: []int64{16, 24, 24}, Wrap: WrapCubes, DCN: 1.25e10},
		}),
		gpu(Hardware{
			Name: "a100", Matrix: Rates{BF16: 3.12e14, Int8: 6.24e14}, VectorFLOPs: 1.95e13,
			HBMBytes: 80e9, HBMBandwidth: 2e12, PCIe: 3.2e10, Levels: fabric(8, 3e11, 32, 2e11, false),
		}),
		gpu(Hardware{
			Name: "h100", Matrix: Rates{BF16: 9.9e14, Int8: 1.98e15, FP8: 1.98e15}, VectorFLOPs: 3.35e13,
			HBMBytes: 80e9, HBMBandwidth: 3.35e12, PCIe: 6.4e10, Levels: fabric(8, 4.5e11, 32, 4e11, true),
		}),
		gpu(Hardware{
			Name: "h200", Matrix: Rates{BF16: 9.9e14, Int8: 1.98e15, FP8: 1.98e15}, VectorFLOPs: 3.35e13,
			HBMBytes: 141e9, HBMBandwidth: 4.8e12, PCIe: 6.4e10, Levels: fabric(8, 4.5e11, 32, 4e11, true),
		}),
		gpu(Hardware{
			Name: "b200", Matrix: Rates{BF16: 2.25e15, Int8: 4.5e15, FP8: 4.5e15, FP4: 9e15}, VectorFLOPs: 8e13,
			HBMBytes: 192e9, HBMBandwidth: 8e12, PCIe: 6.4e10, Levels: fabric(8, 9e11, 32, 4e11, true),
		}),
		gpu(Hardware{
			Name: "gb200", Matrix: Rates{BF16: 2.25e15, Int8: 4.5e15, FP8: 4.5e15, FP4: 9e15}, VectorFLOPs: 8e13,
			HBMBytes: 186e9, HBMBandwidth: 8e12, PCIe: 4.5e11, Levels: fabric(72, 9e11, 8, 3.6e12, true),
		}),
		cpu(),
	}
}

// cpu is a host whose cores play the devices, with plausible figures: 1e11 FLOP/s and 1e10 B/s a device. Collectives
// are copies in shared memory.
func cpu() Hardware {
	return Hardware{
		Name: "cpu", Matrix: Rates{BF16: 1e11}, VectorFLOPs: 2e10, Tile: 1,
		HBMBytes: 16e9, HBMBandwidth: 1e10, PCIe: 1e10, Cores: 1, HostChips: 64, Dispatch: 5e-6,
		Levels: []Level{{Name: "host", Degree: 64, Bandwidth: 5e9, Step: 1e-6}},
	}
}

// Profiles returns the built-in profiles, sorted by name. The values are the caller's own.
func Profiles() []Hardware {
	out := profiles()
	slices.SortFunc(out, func(a, b Hardware) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// DefaultProfile is the hardware of those who name none.
const DefaultProfile = "tpu-v5e"

// OrDefault returns the hardware, or that of DefaultProfile in place of one without a name.
func (h Hardware) OrDefault() Hardware {
	if h.Name == "" {
		h, _ = Lookup(DefaultProfile) // which exists
	}
	return h
}

// Lookup returns the built-in profile of that name; case does not matter. The error for an unknown name is of class
// diag.ErrInvalid and suggests the nearest one.
func Lookup(name string) (Hardware, error) {
	var names []string
	for _, h := range Profiles() {
		if strings.EqualFold(h.Name, name) {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return Hardware{}, diag.Invalid(diag.BadOption, diag.Position{}, "unknown hardware %q%s", clip(name), diag.DidYouMean(name, names)).
		WithNote(diag.Position{}, "known are `%s`", strings.Join(names, "`, `"))
}

// clip bounds what an error quotes.
func clip(name string) string {
	const most = 40
	if len(name) > most {
		return name[:most] + "…"
	}
	return name
}
