package api

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

func TestArtifact(t *testing.T) {
	r := start(t, Options{}, nil)
	data, err := os.ReadFile(filepath.Join("..", "ir", "jaxexport", "testdata", "step.jaxexport"))
	if err != nil {
		t.Fatal(err)
	}
	request := &autoshardv1.PropagateRequest{Source: &autoshardv1.PropagateRequest_Artifact{Artifact: data}}
	got, err := client(t, r).Propagate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Inputs) != 4 || got.Outputs[1].Spec != "P('data', 'model')" {
		t.Errorf("got %v", got)
	}
	status, reply := post(t, r.url+"/autoshard.v1.AutoshardService/Plan",
		`{"artifact": "`+base64.StdEncoding.EncodeToString(data)+`", "hardware": "cpu"}`)
	if status != http.StatusOK || !strings.Contains(string(reply), `"jit_step"`) {
		t.Errorf("status %d: %.300s", status, reply)
	}

	request.Source = &autoshardv1.PropagateRequest_Artifact{Artifact: []byte("ML\xefR\x0fMLIR\x00")}
	_, err = client(t, r).Propagate(t.Context(), request)
	d := firstDiagnostic(t, err)
	if connect.CodeOf(err) != connect.CodeInvalidArgument || d.Position.Byte == nil || *d.Position.Byte != 4 {
		t.Errorf("got %v: %v", err, d)
	}
}
