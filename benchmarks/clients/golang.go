package main

import (
	"context"
	"errors"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"autoshard/api/client"
	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// askInGo asks by the client of Connect for Go over all protocols.
func askInGo(ctx context.Context, url string, text []byte) (list []answers, failed error) {
	for _, protocol := range []string{"connect", "grpc", "grpc-web"} {
		a, err := askConnect(ctx, url, protocol, text)
		list, failed = append(list, a), errors.Join(failed, err)
	}
	return list, failed
}

func askConnect(ctx context.Context, url, protocol string, text []byte) (a answers, err error) {
	a = answers{Client: "Go, connect-go", Protocol: protocol}
	request := &autoshardv1.PlanRequest{}
	if err := codec.JSON("json").Unmarshal(text, request); err != nil {
		return a, err
	}
	c, err := client.New(url, client.Options{Protocol: protocol})
	if err != nil {
		return a, err
	}
	defer c.Close()
	once, err := c.Service().Plan(ctx, request)
	if err != nil {
		return a, err
	}
	a.Once = once.GetPlan().GetHashes().GetPlan()
	stream, err := c.Service().StreamPlan(ctx, &autoshardv1.StreamPlanRequest{Plan: request})
	if err != nil {
		return a, err
	}
	for stream.Receive() {
		a.Reports = a.Reports || stream.Msg().GetProgress() != nil
		a.Streamed = stream.Msg().GetResult().GetPlan().GetHashes().GetPlan()
	}
	if err := errors.Join(stream.Err(), stream.Close()); err != nil {
		return a, err
	}
	other := proto.CloneOf(request)
	other.Memory = -1
	_, err = c.Service().Plan(ctx, other)
	a.Error = describe(err)
	return a, nil
}

// describe names the code of an error, and those of its diagnostics.
func describe(err error) string {
	var e *connect.Error
	if !errors.As(err, &e) {
		return "none"
	}
	var codes []string
	for _, detail := range e.Details() {
		if value, err := detail.Value(); err == nil {
			if d, ok := value.(*autoshardv1.Diagnostic); ok {
				codes = append(codes, d.GetCode())
			}
		}
	}
	return camel(e.Code().String()) + " " + strings.Join(codes, ",")
}

// camel writes invalid_argument as InvalidArgument.
func camel(code string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(code, "_") {
		out.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return out.String()
}
