package iopddl

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// document is the format as structs, for encoding/json.
type document struct {
	Problem struct {
		Name  string `json:"name"`
		Nodes struct {
			Intervals [][]int64 `json:"intervals"`
			Costs     [][]int64 `json:"costs"`
			Usages    [][]int64 `json:"usages"`
		} `json:"nodes"`
		Edges struct {
			Nodes [][]int64 `json:"nodes"`
			Costs [][]int64 `json:"costs"`
		} `json:"edges"`
		Limit *int64 `json:"usage_limit"`
	} `json:"problem"`
}

// instances returns the paths of the shared instances.
func instances(t testing.TB) []string {
	t.Helper()
	root := os.Getenv("AUTOSHARD_SHARED")
	if root == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the instances")
	}
	files, err := filepath.Glob(filepath.Join(root, "iopddl", "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no instances, %v", err)
	}
	return files
}

// unpacked returns the text of a file.
func unpacked(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if text, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// BenchmarkRead reads every instance here and by encoding/json into structs, from unpacked and packed bytes.
func BenchmarkRead(b *testing.B) {
	for _, file := range instances(b) {
		packed, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		text := unpacked(b, file)
		for _, side := range []struct {
			name string
			read func() error
		}{
			{"here", func() error { _, err := Read(bytes.NewReader(text), file); return err }},
			{"json", func() error { return json.Unmarshal(text, &document{}) }},
			{"here,packed", func() error { _, err := Read(bytes.NewReader(packed), file); return err }},
			{"json,packed", func() error {
				var r io.Reader = bytes.NewReader(packed)
				if gz, err := gzip.NewReader(r); err == nil {
					r = gz
				}
				return json.NewDecoder(r).Decode(&document{})
			}},
			{"gunzip", func() error {
				gz, err := gzip.NewReader(bytes.NewReader(packed))
				if err != nil {
					return nil
				}
				_, err = io.Copy(io.Discard, gz)
				return err
			}},
		} {
			b.Run(filepath.Base(file)+"/"+side.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if err := side.read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// peakVariable names the file that a process of TestPeak reads.
const peakVariable = "IOPDDL_TEST_PEAK"

func TestMain(m *testing.M) {
	if file := os.Getenv(peakVariable); file != "" {
		fmt.Println(readPeak(file))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// readPeak returns what reading a file adds to the memory of the process at most, and the bytes of the file, unpacked.
func readPeak(file string) (peak, size int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	debug.FreeOSMemory()
	before, err := status("VmRSS")
	if err == nil {
		err = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	}
	if err != nil {
		return 0, 0, err
	}
	inst, err := Read(f, file)
	if err != nil {
		return 0, 0, err
	}
	after, err := status("VmHWM")
	runtime.KeepAlive(inst)
	return after - before, inst.Bytes, err
}

// status returns a size that the kernel tells about this process, in bytes.
func status(key string) (int64, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if name, value, _ := strings.Cut(line, ":"); name == key {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n * 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no %s", key)
}

// mostPerByte is the memory that reading may take at its peak for each byte of the unpacked text.
const mostPerByte = 3

// Reading takes at most three bytes of memory for a byte of text. Each file is read by a process of its own.
func TestPeak(t *testing.T) {
	if _, err := status("VmHWM"); err != nil {
		t.Skip("the kernel does not tell the memory of a process")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := []string{dense(t)}
	if os.Getenv("AUTOSHARD_SHARED") != "" {
		files = append(files, instances(t)...)
	}
	for _, file := range files {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), peakVariable+"="+file)
		out, err := cmd.CombinedOutput()
		var peak, size int64
		if _, scan := fmt.Sscan(string(out), &peak, &size); err != nil || scan != nil {
			t.Fatalf("%s: %s %v", file, out, err)
		}
		perByte := float64(peak) / float64(size)
		t.Logf("%s: %d bytes, peak %.2f bytes a byte", filepath.Base(file), size, perByte)
		if perByte > mostPerByte && size > 1<<20 {
			t.Errorf("%s: reading takes %.2f bytes a byte, more than %d", filepath.Base(file), perByte, mostPerByte)
		}
	}
}

// dense writes an instance of which no two lists are equal: a chain of nodes whose matrices are random numbers of up to seven digits.
func dense(t *testing.T) string {
	const n, k = 2000, 24
	rng := rand.New(rand.NewPCG(1, 2))
	var d document
	d.Problem.Edges.Nodes, d.Problem.Edges.Costs = [][]int64{}, [][]int64{}
	draw := func(n int) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = rng.Int64N(10_000_000)
		}
		return out
	}
	for i := range int64(n) {
		d.Problem.Nodes.Intervals = append(d.Problem.Nodes.Intervals, []int64{i, i + 10})
		d.Problem.Nodes.Costs, d.Problem.Nodes.Usages = append(d.Problem.Nodes.Costs, draw(k)), append(d.Problem.Nodes.Usages, draw(k))
		if i > 0 {
			d.Problem.Edges.Nodes, d.Problem.Edges.Costs = append(d.Problem.Edges.Nodes, []int64{i - 1, i}), append(d.Problem.Edges.Costs, draw(k*k))
		}
	}
	text, err := json.Marshal(&d)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dense.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
