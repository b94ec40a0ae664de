package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/time/rate"

	healthv1connect "autoshard/api/gen/grpc/health/v1/grpc_health_v1connect"
)

// Token lets clients in that know its secret.
type Token struct {
	Name      string // of whoever has it, in logs; clients of one name take their turns as one
	Secret    string
	PerMinute int // requests; 0: as many as they like
}

// guard lets requests pass that have a token.
type guard struct {
	next    http.Handler
	holders map[[sha256.Size]byte]*holder // by the hash of the secret
	refusal *connect.ErrorWriter
}

type holder struct {
	name  string
	quota *rate.Limiter // nil: none
}

// authorized lets requests pass that have one of the tokens and are within its quota, and health checks, which have no secrets. Without
// tokens all may pass.
func authorized(tokens []Token, next http.Handler) http.Handler {
	if len(tokens) == 0 {
		return next
	}
	g := &guard{next: next, holders: map[[sha256.Size]byte]*holder{}, refusal: connect.NewErrorWriter()}
	for _, t := range tokens {
		h := &holder{name: t.Name}
		if t.PerMinute > 0 {
			h.quota = rate.NewLimiter(rate.Limit(float64(t.PerMinute)/60), t.PerMinute)
		}
		g.holders[sha256.Sum256([]byte(t.Secret))] = h
	}
	return g
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/"+healthv1connect.HealthName+"/") {
		g.next.ServeHTTP(w, r)
		return
	}
	h := g.holder(r)
	if h == nil {
		g.refuse(w, r, connect.NewError(connect.CodeUnauthenticated, errors.New("a token is needed, as `Authorization: Bearer TOKEN`")))
		return
	}
	visitOf(r.Context()).client = h.name
	if h.quota != nil && !h.quota.Allow() {
		err := connect.NewError(connect.CodeResourceExhausted, errors.New("the quota of this token is used up; try again later"))
		wait := time.Duration(float64(time.Second) / float64(h.quota.Limit()))
		err.Meta().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		g.refuse(w, r, err)
		return
	}
	g.next.ServeHTTP(w, r)
}

// refuse answers with an error, in JSON where the protocol is unknown.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, err *connect.Error) {
	_ = g.refusal.Write(w, r, err) // the client is gone where this fails
}

// holder returns who has the token of a request, nil where nobody has. How long it takes depends on the hash of what was sent, which tells
// nobody how near that was to a secret.
func (g *guard) holder(r *http.Request) *holder {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	return g.holders[sha256.Sum256([]byte(token))]
}

// clientOf names who sent a request: who has its token or, without one, the host, whatever the connection.
func clientOf(ctx context.Context, peer connect.Peer) string {
	return cmp.Or(visitOf(ctx).client, host(peer))
}
