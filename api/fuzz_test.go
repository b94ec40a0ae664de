package api

import (
	"bytes"
	"context"
	encodingbinary "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/jobs"
	"autoshard/api/plancache"
)

// procedure is a method of the server.
type procedure struct {
	name    string
	empty   proto.Message // its request
	answer  proto.Message // an empty one
	stream  bool          // it answers with a stream
	streams bool          // it takes a stream, too
}

// procedureOf returns a method by its name, such as autoshard.v1.AutoshardService/Plan.
func procedureOf(t testing.TB, name string) procedure {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(name, "/", ".")))
	if err != nil {
		t.Fatal(err)
	}
	m := found.(protoreflect.MethodDescriptor)
	message := func(d protoreflect.MessageDescriptor) proto.Message {
		typ, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
		if err != nil {
			t.Fatal(err)
		}
		return typ.New().Interface()
	}
	return procedure{name, message(m.Input()), message(m.Output()), m.IsStreamingServer(), m.IsStreamingClient()}
}

// methodsOf returns the names of the methods of a service.
func methodsOf(t testing.TB, service string) (names []string) {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		t.Fatal(err)
	}
	methods := found.(protoreflect.ServiceDescriptor).Methods()
	for i := range methods.Len() {
		names = append(names, service+"/"+string(methods.Get(i).Name()))
	}
	return names
}

// post makes a request of a body, as Connect wants it.
func (p *procedure) post(ctx context.Context, body []byte, binary bool) *http.Request {
	kind := "json"
	if binary {
		kind = "proto"
	}
	if p.stream {
		kind = "connect+" + kind
		body = append(encodingbinary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	}
	r := httptest.NewRequest(http.MethodPost, "/"+p.name, bytes.NewReader(body)).WithContext(ctx)
	if p.streams {
		r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0
	}
	r.Header.Set("Content-Type", "application/"+kind)
	return r
}

// read reads a message of an answer.
func read(body []byte, binary bool, into proto.Message) error {
	if binary {
		return proto.Unmarshal(body, into)
	}
	return codec.JSON("json").Unmarshal(body, into)
}

// ended returns the code of the error that an answer ends with, "" for none. The error is what of the answer cannot be read.
func (p *procedure) ended(w *httptest.ResponseRecorder, binary bool) (string, error) {
	type failure struct{ Code string }
	body := w.Body.Bytes()
	switch {
	case w.Code != http.StatusOK:
		var f failure
		err := json.Unmarshal(body, &f)
		return f.Code, err
	case !p.stream:
		return "", read(body, binary, p.answer.ProtoReflect().New().Interface())
	}
	for len(body) >= 5 && uint64(len(body)-5) >= uint64(encodingbinary.BigEndian.Uint32(body[1:])) {
		last, size := body[0]&2 != 0, encodingbinary.BigEndian.Uint32(body[1:])
		message := body[5 : 5+size]
		body = body[5+size:]
		if last {
			var end struct{ Error failure }
			err := json.Unmarshal(message, &end)
			return end.Error.Code, err
		}
		if err := read(message, binary, p.answer.ProtoReflect().New().Interface()); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("the stream has no end")
}

// broken are codes that no request may lead to.
var broken = []string{connect.CodeInternal.String(), connect.CodeUnknown.String(), connect.CodeDataLoss.String(),
	connect.CodeUnavailable.String()}

// patience is how long an answer may take, and work on it half of that. The fuzzer takes what lasts ten seconds for hung.
const patience = 6 * time.Second

// worked returns the processor time of this process: where others need the machine, patience says nothing.
func worked(t *testing.T) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// fuzzed is a server whose method is fuzzed.
type fuzzed struct {
	*Server
	handler http.Handler
}

// newFuzzed starts a server with everything that requests may name: subjects, a cache, and jobs that have ended.
func newFuzzed(f *testing.F) *fuzzed {
	store, err := jobs.Open(filepath.Join(f.TempDir(), "jobs"))
	if err != nil {
		f.Fatal(err)
	}
	cache, err := plancache.Open(filepath.Join(f.TempDir(), "plans"), plancache.Options{Bytes: 1 << 20})
	if err != nil {
		f.Fatal(err)
	}
	s := New(Options{MaxTime: patience / 2, Jobs: store, Cache: cache, Subjects: []Subject{
		{Name: "a", Document: []byte("{}"), Plan: textRequest(sum)}, {Name: "b", Document: []byte("{}")}}})
	s.health.drain() // so that Watch ends
	stop := s.work(context.Background())
	f.Cleanup(func() {
		stop()
		if err := errors.Join(store.Close(), cache.Close()); err != nil {
			f.Error(err)
		}
	})
	for i, text := range []string{sum, "{", written} {
		job, err := s.service.jobs.Start("fuzzer", &autoshardv1.StartJobRequest{Plan: textRequest(text), RequestId: fmt.Sprint("request ", i)})
		if err != nil {
			f.Fatal(err)
		}
		if err := s.service.jobs.Watch(context.Background(), job.Id, func(*autoshardv1.Job) error { return nil }); err != nil {
			f.Fatal(err)
		}
	}
	return &fuzzed{s, s.Handler()}
}

// fuzz sends bodies to a method: those that begin with a brace as JSON, others in binary. Whatever is sent, the answer comes in time, can
// be read, and is no error of the server.
func fuzz(f *testing.F, name string) {
	m := procedureOf(f, name)
	s := newFuzzed(f)
	for _, body := range seeds(f, s, &m) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		before := worked(t)
		late := func() bool { return ctx.Err() != nil && worked(t)-before > patience/3 }
		binary := !bytes.HasPrefix(body, []byte("{"))
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, m.post(ctx, body, binary))
		code, err := m.ended(w, binary)
		if err != nil || slices.Contains(broken, code) || late() {
			t.Fatalf("status %d, code %s, %v, %v: %q", w.Code, code, err, ctx.Err(), w.Body)
		}
		if _, ok := m.answer.(*autoshardv1.StartJobResponse); ok && code == "" {
			started := &autoshardv1.StartJobResponse{}
			if err := read(w.Body.Bytes(), binary, started); err != nil {
				t.Fatal(err)
			}
			if err := s.finish(ctx, started); err != nil && (ctx.Err() == nil || late()) {
				t.Fatal(err)
			}
		}
	})
}

// finish lets a job that was started work for a moment, cancels it, and looks at its end.
func (s *fuzzed) finish(ctx context.Context, answer *autoshardv1.StartJobResponse) error {
	runner := s.service.jobs
	id := answer.GetJob().GetId()
	stop := time.AfterFunc(50*time.Millisecond, func() { _, _ = runner.Cancel(id) })
	defer stop.Stop()
	if err := runner.Watch(ctx, id, func(*autoshardv1.Job) error { return nil }); err != nil {
		return fmt.Errorf("job %s: %w", id, err)
	}
	job, err := runner.Job(id)
	if err == nil && slices.Contains(broken, job.GetCode()) {
		err = fmt.Errorf("job is %v", job)
	}
	return err
}
