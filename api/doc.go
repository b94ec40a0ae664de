// Package api serves autoshard.v1.AutoshardService over Connect, gRPC and gRPC-Web on one port, with health checking
// and reflection. It translates between messages and the façade and holds no domain logic.
//
//	server := api.New(api.Options{Logger: logger})
//	err := server.Serve(ctx, listener) // until ctx ends; then requests in flight finish
//
// With curl:
//
//	curl -H 'Content-Type: application/json' -d '{"text": "…", "mesh": [{"name": "data", "size": "4"}]}' \
//	  http://127.0.0.1:8080/autoshard.v1.AutoshardService/Plan
//
// The message Plan and the file plan.json are one schema, as are Model and model.json.
package api

//go:generate go tool -modfile=../tools/go.mod buf generate
//go:generate go tool -modfile=../tools/go.mod buf generate --template buf.gen.health.yaml
