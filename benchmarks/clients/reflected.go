package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

const serviceName = "autoshard.v1.AutoshardService"

// reflected asks by the client of gRPC for Go with the schema that the server tells, as grpcurl does.
func reflected(ctx context.Context, url string, text []byte) ([]answers, error) {
	conn, err := grpc.NewClient(strings.TrimPrefix(url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	service, err := discover(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("reflection: %w", err)
	}
	a := answers{Client: "Go, grpc-go, schema by reflection", Protocol: "grpc"}
	plan, watched := service.Methods().ByName("Plan"), service.Methods().ByName("StreamPlan")
	request := dynamicpb.NewMessage(plan.Input())
	if err := protojson.Unmarshal(text, request); err != nil {
		return nil, err
	}
	once := dynamicpb.NewMessage(plan.Output())
	if err := conn.Invoke(ctx, "/"+serviceName+"/Plan", request, once); err != nil {
		return nil, err
	}
	a.Once = hashIn(once)
	if err := a.stream(ctx, conn, watched, request); err != nil {
		return nil, err
	}
	request.Set(plan.Input().Fields().ByName("memory"), protoreflect.ValueOfInt64(-1))
	a.Error = statusOf(conn.Invoke(ctx, "/"+serviceName+"/Plan", request, dynamicpb.NewMessage(plan.Output())), plan)
	return []answers{a}, nil
}

// stream asks for a plan with reports.
func (a *answers) stream(ctx context.Context, conn *grpc.ClientConn, method protoreflect.MethodDescriptor, plan proto.Message) error {
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/"+serviceName+"/StreamPlan")
	if err != nil {
		return err
	}
	request := dynamicpb.NewMessage(method.Input())
	request.Set(method.Input().Fields().ByName("plan"), protoreflect.ValueOfMessage(plan.ProtoReflect()))
	if err := errors.Join(stream.SendMsg(request), stream.CloseSend()); err != nil {
		return err
	}
	for {
		event := dynamicpb.NewMessage(method.Output())
		err := stream.RecvMsg(event)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if result := method.Output().Fields().ByName("result"); event.Has(result) {
			a.Streamed = hashIn(event.Get(result).Message())
		} else {
			a.Reports = true
		}
	}
}

// hashIn returns the hash of the plan in a PlanResponse.
func hashIn(m protoreflect.Message) string {
	for _, name := range []protoreflect.Name{"plan", "hashes"} {
		m = m.Get(m.Descriptor().Fields().ByName(name)).Message()
	}
	return m.Get(m.Descriptor().Fields().ByName("plan")).String()
}

// statusOf names the code of an error, and those of its diagnostics, which the descriptors of a method's file know.
func statusOf(err error, method protoreflect.MethodDescriptor) string {
	var codes []string
	for _, any := range status.Convert(err).Proto().GetDetails() {
		if !strings.HasSuffix(any.GetTypeUrl(), "autoshard.v1.Diagnostic") {
			continue
		}
		imports := method.ParentFile().Imports()
		for i := range imports.Len() {
			if d := imports.Get(i).Messages().ByName("Diagnostic"); d != nil {
				m := dynamicpb.NewMessage(d)
				if proto.Unmarshal(any.GetValue(), m) == nil {
					codes = append(codes, m.Get(d.Fields().ByName("code")).String())
				}
			}
		}
	}
	return status.Code(err).String() + " " + strings.Join(codes, ",")
}

// discover asks a server for its services, and for the files that describe that of autoshard.
func discover(ctx context.Context, conn *grpc.ClientConn) (protoreflect.ServiceDescriptor, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := reflection.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, err
	}
	ask := func(r *reflection.ServerReflectionRequest) (*reflection.ServerReflectionResponse, error) {
		if err := stream.Send(r); err != nil {
			return nil, err
		}
		return stream.Recv()
	}
	services, err := ask(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_ListServices{}})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(services.GetListServicesResponse().GetService(),
		func(s *reflection.ServiceResponse) bool { return s.GetName() == serviceName }) {
		return nil, fmt.Errorf("the services are %v", services)
	}
	files := map[string]*descriptorpb.FileDescriptorProto{}
	described, err := ask(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: serviceName}})
	for pending := []string(nil); err == nil; {
		for _, text := range described.GetFileDescriptorResponse().GetFileDescriptorProto() {
			f := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(text, f); err != nil {
				return nil, err
			}
			files[f.GetName()] = f
			pending = append(pending, f.GetDependency()...)
		}
		for len(pending) > 0 && files[pending[0]] != nil {
			pending = pending[1:]
		}
		if len(pending) == 0 {
			break
		}
		described, err = ask(&reflection.ServerReflectionRequest{
			MessageRequest: &reflection.ServerReflectionRequest_FileByFilename{FileByFilename: pending[0]}})
		pending = pending[1:]
	}
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, f := range files {
		set.File = append(set.File, f)
	}
	known, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	found, err := known.FindDescriptorByName(serviceName)
	if err != nil {
		return nil, err
	}
	service, ok := found.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is no service", serviceName)
	}
	return service, nil
}
