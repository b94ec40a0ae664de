package propagate_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// peer is real Shardy in a warm child process.
type peer struct {
	mu       sync.Mutex
	requests *json.Encoder
	answers  *bufio.Reader
}

// reply is what Shardy makes of a program: a text, or none and why.
type reply struct {
	text    string
	ok      bool
	problem string
}

// crashed says that Shardy gave no answer at all, or did not come to an end.
func (r reply) crashed() bool { return r.problem == "crash" }

var thePeer = sync.OnceValues(func() (*peer, error) {
	cmd := exec.Command(os.Getenv("AUTOSHARD_PYTHON"), filepath.Join("testdata", "shardy.py"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &peer{requests: json.NewEncoder(in), answers: bufio.NewReaderSize(out, 1<<20)}, nil
})

// shardy returns real Shardy, which all tests of a run share. It ends with the test binary, whose end closes its input.
func shardy(t testing.TB) *peer {
	t.Helper()
	if os.Getenv("AUTOSHARD_PYTHON") == "" || os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_PYTHON (a Python with jax) and AUTOSHARD_SHARED are needed to run real Shardy")
	}
	p, err := thePeer()
	if err != nil {
		t.Fatalf("starting Shardy: %v", err)
	}
	return p
}

// ask runs a pipeline on a text.
func (p *peer) ask(text, pipeline string) (reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.requests.Encode([2]string{text, pipeline}); err != nil {
		return reply{}, err
	}
	return p.read()
}

// askAll runs programs and passes on each answer as it comes: the peer works while the caller does.
func (p *peer) askAll(programs []program, visit func(i int, r reply)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := make(chan error, 1)
	go func() {
		for _, q := range programs {
			if err := p.requests.Encode([2]string{q.text, q.pipeline}); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range programs {
		r, err := p.read()
		if err != nil {
			return err
		}
		visit(i, r)
	}
	return <-sent
}

func (p *peer) read() (reply, error) {
	line, err := p.answers.ReadBytes('\n')
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return reply{}, err
	}
	var a [2]*string
	if err := json.Unmarshal(line, &a); err != nil {
		return reply{}, err
	}
	if a[0] == nil {
		return reply{problem: *a[1]}, nil
	}
	return reply{text: *a[0], ok: true}, nil
}
