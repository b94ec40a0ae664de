package api

import (
	"errors"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	connectvalidate "connectrpc.com/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"autoshard/internal/diag"
)

// validation checks requests by the rules of the schema.
func validation() connect.Interceptor {
	return connectvalidate.NewInterceptor(connectvalidate.WithValidator(validator{}))
}

// validator says with diagnostics what rules of the schema a message breaks.
type validator struct{}

// Validate implements protovalidate.Validator.
func (validator) Validate(m proto.Message, options ...protovalidate.ValidationOption) error {
	err := protovalidate.Validate(m, options...)
	var broken *protovalidate.ValidationError
	if !errors.As(err, &broken) {
		return err
	}
	var out []diag.Diagnostic
	for _, v := range broken.Violations {
		out = append(out, describeViolation(m.ProtoReflect().Descriptor(), v.Proto).Diagnostics...)
	}
	return &violations{&diag.Error{Class: diag.ErrInvalid, Diagnostics: out}, broken}
}

// describeViolation says what is wrong with a field of a message.
func describeViolation(in protoreflect.MessageDescriptor, v *validate.Violation) *diag.Error {
	path, choice := jsonPath(in, v.GetField())
	message := strings.TrimSuffix(strings.TrimPrefix(v.GetMessage(), "value "), ".")
	switch {
	case choice != nil:
		var names []string
		for i := range choice.Fields().Len() {
			names = append(names, "`"+choice.Fields().Get(i).JSONName()+"`")
		}
		last := len(names) - 1
		message = "one of " + strings.Join(names[:last], ", ") + " and " + names[last] + " is required"
		if path != "" {
			message += " in `" + path + "`"
		}
		return invalid("%s", message)
	case path == "":
		return invalid("%s", message)
	}
	return invalid("`%s` %s", path, message)
}

// violations are what is wrong with a message, as diagnostics and as those who know Protovalidate read them.
type violations struct {
	found  *diag.Error
	broken *protovalidate.ValidationError
}

// Error implements error.
func (v *violations) Error() string { return v.found.Error() }

// Unwrap implements what errors.As looks for.
func (v *violations) Unwrap() []error { return []error{v.found, v.broken} }

// jsonPath returns the path of a field as a JSON request has it and, where the path ends with one, the choice of fields.
func jsonPath(in protoreflect.MessageDescriptor, path *validate.FieldPath) (string, protoreflect.OneofDescriptor) {
	var names []string
	for _, e := range path.GetElements() {
		f := in.Fields().ByNumber(protoreflect.FieldNumber(e.GetFieldNumber()))
		if f == nil {
			return strings.Join(names, "."), in.Oneofs().ByName(protoreflect.Name(e.GetFieldName()))
		}
		one := protovalidate.FieldPathString(&validate.FieldPath{Elements: []*validate.FieldPathElement{e}})
		names = append(names, strings.Replace(one, e.GetFieldName(), f.JSONName(), 1))
		in = f.Message()
	}
	return strings.Join(names, "."), nil
}
