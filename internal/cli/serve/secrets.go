package serve

import (
	"context"
	"crypto/tls"
	"strconv"
	"strings"

	"autoshard/api"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// readTokens reads a file of tokens: a line has a name, a secret and, if there is a quota, requests a minute. Lines that begin with # count
// for nothing. Without a file there are none.
func readTokens(ctx context.Context, s *cmdline.Streams, file string) (tokens []api.Token, err error) {
	if file == "" {
		return nil, nil
	}
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		token, ok := parseToken(fields)
		if !ok {
			return nil, diag.Invalid(diag.BadOption, diag.Position{File: name, Line: number, Col: 1},
				"a line must have a name, a secret and, if there is a quota, requests a minute, such as `alice 9f86d081884c 60`")
		}
		tokens = append(tokens, token)
	}
	if len(tokens) == 0 {
		return nil, diag.Invalid(diag.BadOption, diag.Position{File: name}, "the file has no token")
	}
	return tokens, nil
}

func parseToken(fields []string) (t api.Token, ok bool) {
	if len(fields) != 2 && len(fields) != 3 {
		return t, false
	}
	t = api.Token{Name: fields[0], Secret: fields[1]}
	if len(fields) == 2 {
		return t, true
	}
	n, err := strconv.Atoi(fields[2])
	t.PerMinute = n
	return t, err == nil && n > 0
}

// certificate returns how connections are encrypted, nil where they are not.
func certificate(c *config.Serve) (*tls.Config, error) {
	if c.TLSCert == "" && c.TLSKey == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, diag.Invalid(diag.BadOption, diag.Position{File: "--tls-cert"}, "--tls-cert and --tls-key are no certificate and key: %v",
			err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}
