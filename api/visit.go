package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// visit is what is known of a request from its arrival on, whoever answers it.
type visit struct {
	client   string // who has its token; "" without one
	recorded bool
}

// visitKey is the key of contexts for the visit.
type visitKey struct{}

// visitOf returns the visit of a request, a new one where none is kept.
func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{}
}

// recordedPaths are those of the methods whose requests are logged and counted: all of the schema. Health is asked all the time.
var recordedPaths = pathsOf(autoshardv1.File_autoshard_v1_service_proto, autoshardv1.File_autoshard_v1_review_proto)

func pathsOf(files ...protoreflect.FileDescriptor) map[string]bool {
	paths := map[string]bool{}
	for _, f := range files {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				paths[fmt.Sprintf("/%s/%s", s.FullName(), s.Methods().Get(j).Name())] = true
			}
		}
	}
	return paths
}

// visited records requests that are answered before an interceptor sees them: they have no token, are over a quota, or cannot be read.
func (l *limiter) visited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !recordedPaths[r.URL.Path] {
			next.ServeHTTP(w, r)
			return
		}
		start, v, a := time.Now(), &visit{}, &answer{ResponseWriter: w}
		ctx := context.WithValue(r.Context(), visitKey{}, v)
		c := call{r.URL.Path, connect.Peer{Addr: r.RemoteAddr, Protocol: protocolOf(r)}, nil}
		next.ServeHTTP(a, r.WithContext(ctx))
		if !v.recorded {
			l.record(ctx, c, time.Since(start), 0, connect.NewError(a.code(), nil))
		}
	})
}

// protocolOf returns the protocol that a request claims.
func protocolOf(r *http.Request) string {
	kind := r.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "application/grpc-web"):
		return connect.ProtocolGRPCWeb
	case strings.HasPrefix(kind, "application/grpc"):
		return connect.ProtocolGRPC
	}
	return connect.ProtocolConnect
}

// answer keeps the beginning of what is sent.
type answer struct {
	http.ResponseWriter
	begun []byte
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	const enough = 64 // for a code, which an error of Connect begins with
	a.begun = append(a.begun, p[:min(len(p), enough-len(a.begun))]...)
	return a.ResponseWriter.Write(p)
}

// Flush implements http.Flusher, which streams need.
func (a *answer) Flush() {
	_ = http.NewResponseController(a.ResponseWriter).Flush() // the client is gone where this fails
}

// Unwrap implements what http.ResponseController looks for.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// namedCode is the code in an error of Connect.
var namedCode = regexp.MustCompile(`"code":"(\w+)"`)

// code returns the code that an answer without messages has, as a number of gRPC or a name of Connect. It is unknown where HTTP alone says
// what is wrong: the method or the content type.
func (a *answer) code() connect.Code {
	const status = "Grpc-Status"
	if number, err := strconv.ParseUint(cmp.Or(a.Header().Get(status), a.Header().Get(http.TrailerPrefix+status)), 10, 32); err == nil {
		return connect.Code(number)
	}
	code := connect.CodeUnknown
	if named := namedCode.FindSubmatch(a.begun); named != nil {
		_ = code.UnmarshalText(named[1]) // unknown where it is no code
	}
	return code
}
