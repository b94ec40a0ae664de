package typed_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"autoshard/internal/testkit"
)

var (
	jaxPrograms = flag.Int("jax.programs", 300, "how many random programs TestJAX compares")
	jaxSeed     = flag.Uint64("jax.seed", 0, "seed of random programs; 0: as testkit.Seed says")
	jaxOnly     = flag.Int("jax.only", -1, "the only random program that TestJAX compares")
	jaxPeers    = flag.Int("jax.peers", 2, "how many processes of JAX TestJAX asks")
)

// randomSeed returns the seed of this run. A test that fails names it.
func randomSeed(t *testing.T) uint64 {
	if *jaxSeed == 0 {
		*jaxSeed = uint64(testkit.Seed(t))
	}
	t.Logf("seed of random programs: -jax.seed=%d", *jaxSeed)
	return *jaxSeed
}

// Random programs are typed as JAX types them, refused where and as JAX refuses them, and compute the same; the
// transposed derivatives of those that have one compute the same as jax.vjp, with no more communication. Where JAX
// promises that a value is equal on all devices and cannot know, the stricter types refuse or say that it varies.
func TestJAX(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax 0.12")
	}
	seed, numbers := randomSeed(t), make(chan int)
	c := &comparison{t: t, counts: map[string]int{}}
	var peers sync.WaitGroup
	for range *jaxPeers {
		peers.Go(func() {
			peer := &jaxPeer{python: python}
			defer peer.stop()
			for k := range numbers {
				c.program(peer, seed, k)
			}
		})
	}
	if *jaxOnly >= 0 {
		numbers <- *jaxOnly
	} else {
		for k := range *jaxPrograms {
			numbers <- k
		}
	}
	close(numbers)
	peers.Wait()
	c.report(*jaxPrograms)
}

// comparison counts what random programs are about.
type comparison struct {
	t      *testing.T
	lock   sync.Mutex
	counts map[string]int
}

func (c *comparison) count(what string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.counts[what]++
}

func (c *comparison) program(peer *jaxPeer, seed uint64, k int) {
	r := programOf(seed, k)
	question, err := json.Marshal(r)
	if err != nil {
		c.t.Error(err)
		return
	}
	answer, err := peer.ask(question)
	if err == nil {
		err = r.compare(c, answer)
	}
	if err != nil {
		c.t.Errorf("program %d, -jax.seed=%d: %v\n%s", k, seed, err, question)
	}
}

// report prints the counts. Most programs must be run, and many derivatives taken.
func (c *comparison) report(programs int) {
	c.t.Logf("%d programs: %v", programs, c.counts)
	if *jaxOnly < 0 && (c.counts["run"] < programs/2 || c.counts["derivatives"] < programs/8) {
		c.t.Error("too few programs run or have derivatives")
	}
}

// jaxAnswer is what JAX says of a program.
type jaxAnswer struct {
	Error         *jaxError
	Types         map[int][]string
	Results       []elements
	Grads         []elements
	VJPError      *jaxError
	Communication int
}

type jaxError struct{ Class, Text string }

// elements are the elements of an array, without its shape.
type elements []float64

func (a *elements) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(s)
	for ; len(data) >= 8; data = data[8:] {
		*a = append(*a, math.Float64frombits(binary.LittleEndian.Uint64(data)))
	}
	return err
}

// jaxPeer is a process of JAX, started when it is asked first, and again after it has ended.
type jaxPeer struct {
	python string
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte
	stderr *bytes.Buffer
}

func (p *jaxPeer) start() error {
	cmd := exec.Command(p.python, "testdata/jax_peer.py")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.stderr = &bytes.Buffer{}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.in, p.lines = cmd, in, make(chan []byte)
	go func(lines chan []byte) {
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 1<<22)
		for scan.Scan() {
			lines <- bytes.Clone(scan.Bytes())
		}
		close(lines)
	}(p.lines)
	return nil
}

// ask returns the answer to a question. A process that does not answer is ended.
func (p *jaxPeer) ask(question []byte) (*jaxAnswer, error) {
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(p.in, "%s\n", question)
	var line []byte
	select {
	case line = <-p.lines:
	case <-time.After(2 * time.Minute):
		p.cmd.Process.Kill()
	}
	if line == nil {
		text := p.stderr.String()
		p.stop()
		return nil, fmt.Errorf("JAX ended or was ended after two minutes: %s", text[max(0, len(text)-2000):])
	}
	answer := &jaxAnswer{}
	return answer, json.Unmarshal(line, answer)
}

func (p *jaxPeer) stop() {
	if p.cmd == nil {
		return
	}
	p.in.Close()
	for range p.lines {
	}
	p.cmd.Wait()
	p.cmd = nil
}

// jaxRefusals tell the kinds of errors by the classes and words of JAX (specification: shardmap.md section 1.4).
var jaxRefusals = []struct{ kind, class, words string }{
	{"E_AXIS_UNKNOWN", "ValueError", "refers to"}, {"E_SPEC_DUP", "DuplicateSpecError", ""}, {"E_SPEC_RANK", "ValueError", "too long"},
	{"E_DIV", "ValueError", "evenly divisible"}, {"E_REP", "ValueError", "can't be statically inferred"}, {"E_UNBOUND", "NameError", ""},
	{"E_UNBOUND", "AssertionError", ""}, {"E_GROUPS", "NotImplementedError", ""}, {"E_MIXED", "ValueError", "can only accept axis_name"},
	{"E_CAST", "ValueError", "Unsupported pcast"}, {"E_CARRY", "TypeError", "carry"}, {"E_BRANCH", "TypeError", "must have equal"},
	{"E_COLL_DIV", "ValueError", "must be divisible by"}, {"E_COLL_DIV", "ValueError", "not divisible by"},
	{"E_COLL_DIV", "ValueError", "has to be divisible by"}, {"E_COLL_SHAPE", "ValueError", "size of the mapped axis"},
	{"E_COLL_SHAPE", "ValueError", "must match shard count"}, {"E_PERM", "ValueError", "must be unique"}, {"E_PERM", "IndexError", ""},
	{"E_PERM_ORDER", "RuntimeError", ""},
}

func (e *jaxError) kind() string {
	for _, r := range jaxRefusals {
		if r.class == e.Class && strings.Contains(e.Text, r.words) {
			return r.kind
		}
	}
	if e.Class == "TypeError" || e.Class == "ValueError" {
		return "E_OP"
	}
	return e.Class + ": " + e.Text
}
