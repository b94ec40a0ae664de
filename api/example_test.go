package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"autoshard/api"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
)

// A client asks for what follows from the sharding of an argument.
func ExampleServer_Handler() {
	server := httptest.NewServer(api.New(api.Options{}).Handler())
	defer server.Close()
	client := autoshardv1connect.NewAutoshardServiceClient(server.Client(), server.URL)
	reply, err := client.Propagate(context.Background(), &autoshardv1.PropagateRequest{Source: &autoshardv1.PropagateRequest_Text{
		Text: `sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %y = stablehlo.tanh %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}`}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range reply.Outputs {
		fmt.Println(t.Name, t.Type, t.Spec)
	}
	// Output: out0 f32[4,8] P('x', None)
}
