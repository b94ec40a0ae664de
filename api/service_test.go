package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/testing/protocmp"

	"autoshard"
	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	healthv1connect "autoshard/api/gen/grpc/health/v1/grpc_health_v1connect"
	"autoshard/internal/diag"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(serveJobs); file != "" {
		os.Exit(serveUntilKilled(file))
	}
	goleak.VerifyTestMain(m)
}

const sum = `{
  "schema": "autoshard.model/v1",
  "name": "sum",
  "inputs": [{"name": "a", "type": "f32[8,4]"}],
  "ops": [{"op": "add", "operands": ["a", "a"], "results": ["b"]}],
  "outputs": [{"value": "b"}]
}`

// running is a server on loopback.
type running struct {
	*Server
	url  string
	stop func() error // drains
	log  *logBuffer
}

func start(t *testing.T, o Options, change func(*service)) *running {
	t.Helper()
	log := &logBuffer{}
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	s := New(o)
	if change != nil {
		change(s.service)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	var stopped atomic.Bool
	r := &running{Server: s, url: "http://" + l.Addr().String(), log: log}
	r.stop = func() error {
		if stopped.Swap(true) {
			return nil
		}
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("drain: %v", err)
		}
	})
	return r
}

type logBuffer struct{ text atomic.Pointer[string] }

func (b *logBuffer) Write(p []byte) (int, error) {
	for {
		old := b.text.Load()
		text := string(p)
		if old != nil {
			text = *old + text
		}
		if b.text.CompareAndSwap(old, &text) {
			return len(p), nil
		}
	}
}

func (b *logBuffer) String() string {
	if text := b.text.Load(); text != nil {
		return *text
	}
	return ""
}

// http1 and http2 are clients that the test closes.
func httpClient(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	var p http.Protocols
	p.SetHTTP1(!http2)
	p.SetUnencryptedHTTP2(http2)
	transport := &http.Transport{Protocols: &p}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func client(t *testing.T, r *running, options ...connect.ClientOption) autoshardv1connect.AutoshardServiceClient {
	return autoshardv1connect.NewAutoshardServiceClient(httpClient(t, true), r.url, options...)
}

func mesh(name string, size int64) []*autoshardv1.MeshAxis {
	return []*autoshardv1.MeshAxis{{Name: name, Size: size}}
}

func textRequest(text string) *autoshardv1.PlanRequest {
	return &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: text}, Mesh: mesh("x", 4)}
}

// The same request gives the same plan over all protocols and codecs, and from text and message.
func TestProtocols(t *testing.T) {
	r := start(t, Options{}, nil)
	var want *autoshardv1.PlanResponse
	for name, options := range map[string][]connect.ClientOption{
		"connect":      nil,
		"connect json": {connect.WithCodec(codec.JSON("json"))},
		"grpc":         {connect.WithGRPC()},
		"grpc json":    {connect.WithGRPC(), connect.WithCodec(codec.JSON("json"))},
		"grpc-web":     {connect.WithGRPCWeb()},
	} {
		t.Run(name, func(t *testing.T) {
			request := textRequest(sum)
			request.Annotated = true
			got, err := client(t, r, options...).Plan(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if got.Plan.Model != "sum" || len(got.Plan.Inputs) != 1 || !strings.Contains(got.Annotated, "stablehlo.add") {
				t.Errorf("plan is %v", got)
			}
			if want == nil {
				want = got
			}
			if d := cmp.Diff(want, got, protocmp.Transform()); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("model as message", func(t *testing.T) {
		var model autoshardv1.Model
		if err := (codec.JSON("json")).Unmarshal([]byte(sum), &model); err != nil {
			t.Fatal(err)
		}
		got, err := client(t, r).Plan(t.Context(), &autoshardv1.PlanRequest{Annotated: true,
			Source: &autoshardv1.PlanRequest_Model{Model: &model}, Mesh: mesh("x", 4)})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want.Plan.Inputs, got.Plan.Inputs, protocmp.Transform()); d != "" {
			t.Error(d)
		}
	})
}

// post sends JSON as curl does.
func post(t *testing.T, url, body string) (status int, reply []byte) {
	t.Helper()
	response, err := httpClient(t, false).Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	reply, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, reply
}

// The plan in a reply to curl is a plan.json, byte for byte the same as the façade's after reading.
func TestPlainHTTP(t *testing.T) {
	r := start(t, Options{}, nil)
	text, err := os.ReadFile(filepath.Join("..", "examples", "mlp.json"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"text": string(text), "mesh": []any{
		map[string]any{"name": "data", "size": 4}, map[string]any{"name": "model", "size": "2"}}, "seed": 7})
	if err != nil {
		t.Fatal(err)
	}
	status, reply := post(t, r.url+autoshardv1connect.AutoshardServicePlanProcedure, string(body))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, reply)
	}
	var outer struct{ Plan json.RawMessage }
	if err := json.Unmarshal(reply, &outer); err != nil {
		t.Fatal(err)
	}
	plan, err := autoshard.ReadPlan(t.Context(), "reply", outer.Plan)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Model != "mlp" || plan.Memory == 0 || plan.Certificate.Seed != 7 {
		t.Errorf("plan is %+v", plan)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, plan.JSON()); err != nil {
		t.Fatal(err)
	}
	again, err := autoshard.ReadPlan(t.Context(), "again", compact.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(again, plan); d != "" {
		t.Error(d)
	}
}

func TestPropagate(t *testing.T) {
	r := start(t, Options{}, nil)
	text := "sdy.mesh @mesh = <[\"x\"=4]>\n" +
		"func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> tensor<8xf32> {\n" +
		"  %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>\n  return %0 : tensor<8xf32>\n}\n"
	request := &autoshardv1.PropagateRequest{Source: &autoshardv1.PropagateRequest_Text{Text: text}, Trace: true}
	got, err := client(t, r).Propagate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if got.Outputs[0].Spec != "P('x')" || got.Trace == nil || len(got.Trace.Rounds) != 1 ||
		got.Trace.Rounds[0].Levels[0].Steps[0].Kind != "move" {
		t.Errorf("got %v", got)
	}
	request.Trace = false
	if got, err = client(t, r).Propagate(t.Context(), request); err != nil || got.Trace != nil {
		t.Errorf("trace is %v, error %v", got.GetTrace(), err)
	}
}

// What an answer does not keep as it is comes with it, and the options about loops and axes count.
func TestFindings(t *testing.T) {
	r := start(t, Options{}, nil)
	uneven := "sdy.mesh @mesh = <[\"x\"=4]>\n" +
		"func.func @main(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> tensor<6xf32> {\n  return %arg0 : " +
		"tensor<6xf32>\n}\n"
	request := &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: uneven}, FileName: "m.mlir", WholeAxes: true}
	plan, err := client(t, r).Plan(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	f := plan.Plan.Findings
	if len(f) != 1 || f[0].Code != "uneven-sharding" || f[0].File != "m.mlir" || f[0].Line != 2 || f[0].Value != "arg0" ||
		f[0].Severity != "warning" {
		t.Errorf("findings are %v", f)
	}
	if spec := plan.Plan.Inputs[0].Spec; spec != "P('x')" || !plan.Plan.Inputs[0].User {
		t.Errorf("the input has %s", spec)
	}
	propagation, err := client(t, r).Propagate(t.Context(),
		&autoshardv1.PropagateRequest{Source: &autoshardv1.PropagateRequest_Text{Text: uneven}})
	if err != nil || len(propagation.Findings) != 2 || propagation.Findings[1].Code != "boundary-sharding" {
		t.Errorf("findings are %v, error %v", propagation.GetFindings(), err)
	}
	request.SearchMemory = 1
	if plan, err = client(t, r).Plan(t.Context(), request); err != nil || !slices.ContainsFunc(plan.Plan.Findings,
		func(f *autoshardv1.Finding) bool { return f.Code == "search-memory" }) {
		t.Errorf("with a byte to search with: %v, %v", plan.GetPlan().GetFindings(), err)
	}
	request.SearchMemory = 1 << 40
	if _, err := client(t, r).Plan(t.Context(), request); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("more memory than the service gives: %v", err)
	}
	request.SearchMemory = 0
	request.TripCounts = []*autoshardv1.TripCount{{Loop: "2", Count: 5}}
	if _, err := client(t, r).Plan(t.Context(), request); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a loop that is not there: %v", err)
	}
}

func TestErrorCodes(t *testing.T) {
	r := start(t, Options{MaxRequest: 1 << 16}, func(s *service) {
		real := s.makePlan
		s.makePlan = func(ctx context.Context, m *autoshard.Model, o autoshard.PlanOptions) (*autoshard.Plan, error) {
			if o.Seed == 666 {
				panic("unlucky")
			}
			return real(ctx, m, o)
		}
	})
	request := func(change func(*autoshardv1.PlanRequest)) *autoshardv1.PlanRequest {
		p := textRequest(sum)
		change(p)
		return p
	}
	for name, test := range map[string]struct {
		request *autoshardv1.PlanRequest
		code    connect.Code
		diag    string
	}{
		"no source":        {&autoshardv1.PlanRequest{}, connect.CodeInvalidArgument, "AS1401"},
		"syntax":           {textRequest("{"), connect.CodeInvalidArgument, "AS1001"},
		"empty":            {textRequest(""), connect.CodeInvalidArgument, "AS1008"},
		"axis of size 0":   {request(func(p *autoshardv1.PlanRequest) { p.Mesh[0].Size = 0 }), connect.CodeInvalidArgument, "AS1201"},
		"unknown hardware": {request(func(p *autoshardv1.PlanRequest) { p.Hardware = "abacus" }), connect.CodeInvalidArgument, "AS1401"},
		"negative memory":  {request(func(p *autoshardv1.PlanRequest) { p.Memory = -1 }), connect.CodeInvalidArgument, "AS1401"},
		"too little":       {request(func(p *autoshardv1.PlanRequest) { p.Memory = 1 }), connect.CodeFailedPrecondition, "AS2002"},
		"too large":        {textRequest(strings.Repeat(" ", 1<<17)), connect.CodeResourceExhausted, ""},
		"panic":            {request(func(p *autoshardv1.PlanRequest) { p.Seed = 666 }), connect.CodeInternal, "AS9001"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, options := range [][]connect.ClientOption{nil, {connect.WithGRPC()}, {connect.WithGRPCWeb()}} {
				_, err := client(t, r, options...).Plan(t.Context(), test.request)
				if connect.CodeOf(err) != test.code {
					t.Fatalf("code is %v, want %v: %v", connect.CodeOf(err), test.code, err)
				}
				if got := firstDiagnostic(t, err); got.GetCode() != test.diag {
					t.Errorf("diagnostic is %v, want %s", got, test.diag)
				}
			}
		})
	}
}

func firstDiagnostic(t *testing.T, err error) *autoshardv1.Diagnostic {
	t.Helper()
	var e *connect.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an error of Connect", err)
	}
	for _, d := range e.Details() {
		value, err := d.Value()
		if err != nil {
			t.Fatal(err)
		}
		if found, ok := value.(*autoshardv1.Diagnostic); ok {
			return found
		}
	}
	return nil
}

// A diagnostic in a detail has its place.
func TestErrorDetail(t *testing.T) {
	r := start(t, Options{}, nil)
	request := textRequest("func.func @main() {\n  stablehlo.ad\n}")
	request.FileName = "bad.mlir"
	_, err := client(t, r).Plan(t.Context(), request)
	got := firstDiagnostic(t, err)
	if got.GetCode() != "AS1002" || got.GetPosition().GetFile() != "bad.mlir" || got.GetPosition().GetLine() != 2 ||
		got.GetPosition().GetColumn() != 3 {
		t.Errorf("diagnostic is %v", got)
	}
}

// Misspelt fields of a request are not ignored.
func TestUnknownField(t *testing.T) {
	r := start(t, Options{}, nil)
	for _, body := range []string{`{"txt": ""}`, `{"model": {"schema": "autoshard.model/v1", "imputs": []}}`, ``, `[]`} {
		status, reply := post(t, r.url+autoshardv1connect.AutoshardServicePlanProcedure, body)
		if status != http.StatusBadRequest || !strings.Contains(string(reply), `"invalid_argument"`) {
			t.Errorf("%q: status %d: %s", body, status, reply)
		}
	}
}

// blocking replaces planning by waiting for the end of the context, and says when it began and ended.
func blocking(began, ended chan<- error) func(*service) {
	return func(s *service) {
		s.makePlan = func(ctx context.Context, _ *autoshard.Model, _ autoshard.PlanOptions) (*autoshard.Plan, error) {
			began <- nil
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}
	}
}

// When a client goes away its work stops, over all protocols.
func TestCancel(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			began, ended := make(chan error, 1), make(chan error, 1)
			r := start(t, Options{}, blocking(began, ended))
			c := autoshardv1connect.NewAutoshardServiceClient(httpClient(t, http2), r.url)
			ctx, cancel := context.WithCancel(t.Context())
			replied := make(chan error, 1)
			go func() {
				_, err := c.Plan(ctx, textRequest(sum))
				replied <- err
			}()
			<-began
			cancel()
			if err := <-replied; connect.CodeOf(err) != connect.CodeCanceled {
				t.Errorf("client: %v", err)
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("server: %v", err)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	began, ended := make(chan error, 1), make(chan error, 1)
	r := start(t, Options{MaxTime: 20 * time.Millisecond}, blocking(began, ended))
	_, err := client(t, r).Plan(t.Context(), textRequest(sum))
	if connect.CodeOf(err) != connect.CodeDeadlineExceeded {
		t.Errorf("error is %v", err)
	}
}

// A deadline that comes before the search is done gives the best plan so far, in time.
func TestEarlyPlan(t *testing.T) {
	r := start(t, Options{}, nil)
	text, err := os.ReadFile(filepath.Join("..", "examples", "transformer_train.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	request := textRequest(string(text))
	request.Mesh = append(mesh("data", 4), mesh("model", 2)...)
	request.Memory, request.Steps, request.Annotated = 700_000, 1<<50, true
	var got *autoshardv1.PlanResponse
	for wait := 3 * time.Second; got == nil && wait < 15*time.Second; wait *= 2 { // a busy machine may be late with the answer itself
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		if got, err = client(t, r).Plan(ctx, request); err != nil {
			got = nil
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if c := got.GetPlan().GetCertificate(); c.GetStatus() != "early" || c.GetBound() <= 0 ||
		got.GetPlan().GetEstimate().GetPeakBytes() > request.Memory {
		t.Errorf("the plan is %v, %v", c, got.GetPlan().GetEstimate())
	}
	short, cancelShort := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancelShort()
	if _, err := client(t, r).Plan(short, request); connect.CodeOf(err) != connect.CodeDeadlineExceeded {
		t.Errorf("with too little time for any plan: %v", err)
	}
}

// More requests than the limit wait; more than may wait are refused, and told when to come again. Who waits is heard.
func TestWaiting(t *testing.T) {
	began, ended := make(chan error, 1), make(chan error, 2)
	r := start(t, Options{MaxConcurrent: 1, MaxWaiting: 1}, blocking(began, ended))
	plan := func(ctx context.Context) <-chan error {
		replied := make(chan error, 1)
		c := client(t, r)
		go func() {
			_, err := c.Plan(ctx, textRequest(sum))
			replied <- err
		}()
		return replied
	}
	inQueue := func(n int) {
		for deadline := time.Now().Add(10 * time.Second); waitingIn(r) != n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d requests wait, want %d", waitingIn(r), n)
			}
		}
	}
	first, cancelFirst := context.WithCancel(t.Context())
	firstReplied := plan(first)
	<-began

	second, cancelSecond := context.WithCancel(t.Context())
	secondReplied := plan(second)
	inQueue(1)
	var refused *connect.Error
	if err := <-plan(t.Context()); connect.CodeOf(err) != connect.CodeResourceExhausted || !errors.As(err, &refused) ||
		refused.Meta().Get("Retry-After") == "" {
		t.Errorf("third request: %v", err)
	}
	status, reply := post(t, r.url+autoshardv1connect.AutoshardServicePlanProcedure, `{"text": "x"}`)
	if status != http.StatusTooManyRequests {
		t.Errorf("third request by HTTP: %d %s", status, reply)
	}
	cancelSecond()
	if err := <-secondReplied; connect.CodeOf(err) != connect.CodeCanceled {
		t.Errorf("second request: %v", err)
	}
	inQueue(0)

	short, cancelShort := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancelShort()
	if err := <-plan(short); connect.CodeOf(err) != connect.CodeDeadlineExceeded {
		t.Errorf("request with a deadline: %v", err)
	}
	inQueue(0)

	last, cancelLast := context.WithCancel(t.Context())
	lastReplied := plan(last)
	inQueue(1)
	cancelFirst()
	<-firstReplied
	<-began // the last one's turn
	cancelLast()
	<-lastReplied
}

func waitingIn(r *running) int {
	r.limiter.queue.mu.Lock()
	defer r.limiter.queue.mu.Unlock()
	return r.limiter.queue.n
}

// Nobody waits longer than work may take.
func TestWaitingTime(t *testing.T) {
	release := make(chan struct{})
	r := start(t, Options{MaxConcurrent: 1, MaxTime: 100 * time.Millisecond}, func(s *service) {
		s.makePlan = func(ctx context.Context, _ *autoshard.Model, _ autoshard.PlanOptions) (*autoshard.Plan, error) {
			<-release
			<-ctx.Done()
			return nil, diag.Infeasible(diag.NoPlan, diag.Position{}, "none")
		}
	})
	c := client(t, r)
	replied := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := c.Plan(t.Context(), textRequest(sum))
			replied <- err
		}()
	}
	if err := <-replied; connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("the one that waits: %v", err)
	}
	close(release)
	if err := <-replied; connect.CodeOf(err) != connect.CodeDeadlineExceeded {
		t.Errorf("the one that is worked on: %v", err)
	}
}

// The default server answers 16 small requests that come at once.
func TestParallelPlans(t *testing.T) {
	r := start(t, Options{}, nil)
	text, err := os.ReadFile(filepath.Join("..", "examples", "mlp.json"))
	if err != nil {
		t.Fatal(err)
	}
	const requests = 16
	replies := make(chan error, requests)
	for range requests {
		c := client(t, r)
		go func() {
			request := textRequest(string(text))
			request.Mesh = nil // the model's
			got, err := c.Plan(t.Context(), request)
			if err == nil && got.GetPlan().GetModel() != "mlp" {
				err = fmt.Errorf("the plan is of %q", got.GetPlan().GetModel())
			}
			replies <- err
		}()
	}
	for range requests {
		if err := <-replies; err != nil {
			t.Error(err)
		}
	}
}

// A drain waits for requests in flight, refuses those that wait and new connections, and tells health watchers.
func TestDrain(t *testing.T) {
	began, release := make(chan error, 1), make(chan struct{})
	r := start(t, Options{MaxConcurrent: 1}, func(s *service) {
		real := s.makePlan
		s.makePlan = func(ctx context.Context, m *autoshard.Model, o autoshard.PlanOptions) (*autoshard.Plan, error) {
			began <- nil
			<-release
			return real(ctx, m, o)
		}
	})
	watch, err := healthv1connect.NewHealthClient(httpClient(t, true), r.url, connect.WithGRPC()).
		Watch(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	if !watch.Receive() || watch.Msg().Status != healthv1.HealthCheckResponse_SERVING {
		t.Fatalf("health is %v, %v", watch.Msg(), watch.Err())
	}
	replied := make(chan error, 1)
	c := client(t, r)
	go func() {
		_, err := c.Plan(t.Context(), textRequest(sum))
		replied <- err
	}()
	<-began
	waits := make(chan error, 1)
	go func() {
		_, err := c.Plan(t.Context(), textRequest(sum))
		waits <- err
	}()
	for waitingIn(r) == 0 {
		time.Sleep(time.Millisecond)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	if err := <-waits; connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("request that waits: %v", err)
	}
	if !watch.Receive() || watch.Msg().Status != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health is %v, %v", watch.Msg(), watch.Err())
	}
	if watch.Receive() {
		t.Error("the watch goes on")
	}
	close(release)
	if err := <-replied; err != nil {
		t.Errorf("request in flight: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("drain: %v", err)
	}
	if _, err := client(t, r).Plan(t.Context(), textRequest(sum)); connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("after the drain: %v", err)
	}
}

// Requests that outlast the drain time are canceled.
func TestDrainTime(t *testing.T) {
	began, ended := make(chan error, 1), make(chan error, 1)
	r := start(t, Options{DrainTime: 20 * time.Millisecond}, blocking(began, ended))
	replied := make(chan error, 1)
	c := client(t, r)
	go func() {
		_, err := c.Plan(t.Context(), textRequest(sum))
		replied <- err
	}()
	<-began
	if err := r.stop(); err != nil {
		t.Errorf("drain: %v", err)
	}
	if err := <-replied; connect.CodeOf(err) != connect.CodeCanceled {
		t.Errorf("request: %v", err)
	}
}

// Requests are logged with their code, and nothing of their content.
func TestLog(t *testing.T) {
	r := start(t, Options{}, nil)
	if _, err := client(t, r).Plan(t.Context(), textRequest("secret")); err == nil {
		t.Fatal("no error")
	}
	if log := r.log.String(); !strings.Contains(log, "code=invalid_argument") || strings.Contains(log, "secret") {
		t.Errorf("log is %s", log)
	}
}
