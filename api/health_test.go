package api

import (
	"net/http"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	healthv1connect "autoshard/api/gen/grpc/health/v1/grpc_health_v1connect"
)

// The server and its services say how they are, and every method that reflection lists is there.
func TestHealthAndReflection(t *testing.T) {
	r := start(t, Options{}, nil)
	h := healthv1connect.NewHealthClient(httpClient(t, true), r.url, connect.WithGRPC())
	for _, name := range []string{"", autoshardv1connect.AutoshardServiceName, autoshardv1connect.ReviewServiceName} {
		got, err := h.Check(t.Context(), &healthv1.HealthCheckRequest{Service: name})
		if err != nil || got.Status != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q is %v, %v", name, got, err)
		}
	}
	if _, err := h.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "other"}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("health of another service: %v", err)
	}
	if status, reply := post(t, r.url+healthv1connect.HealthCheckProcedure, `{}`); status != http.StatusOK ||
		string(reply) != `{"status":"SERVING"}` {
		t.Errorf("health by HTTP: %d %s", status, reply)
	}
	listed, err := h.List(t.Context(), &healthv1.HealthListRequest{})
	if err != nil || len(listed.GetStatuses()) != 3 ||
		listed.GetStatuses()[autoshardv1connect.AutoshardServiceName].GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health of all is %v, %v", listed, err)
	}
	stream := grpcreflect.NewClient(httpClient(t, true), r.url, connect.WithGRPC()).NewStream(t.Context())
	defer stream.Close()
	services, err := stream.ListServices()
	if err != nil || len(services) != 3 {
		t.Errorf("services are %v, %v", services, err)
	}
	for _, service := range services {
		for _, method := range methodsOf(t, string(service)) {
			if status, _ := post(t, r.url+"/"+method, "{}"); status == http.StatusNotFound {
				t.Errorf("reflection lists %s, which is not there", method)
			}
		}
	}
	files, err := stream.FileContainingSymbol("autoshard.v1.AutoshardService")
	if err != nil || len(files) == 0 {
		t.Errorf("files are %v, %v", files, err)
	}
}
