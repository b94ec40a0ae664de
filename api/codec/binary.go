package codec

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Binary is the codec of Connect for the binary form. Names of programs are bytes, of messages UTF-8: what is none in an answer becomes
// U+FFFD, as in JSON.
type Binary struct{}

// Name implements connect.Codec.
func (Binary) Name() string { return "proto" }

// IsBinary tells the Connect library that messages are no text.
func (Binary) IsBinary() bool { return true }

// Marshal implements connect.Codec.
func (Binary) Marshal(message any) ([]byte, error) {
	m, err := messageOf(message)
	if err != nil {
		return nil, err
	}
	out, err := proto.Marshal(m)
	if err == nil {
		return out, nil
	}
	m = proto.Clone(m)
	if !mend(m.ProtoReflect()) {
		return nil, err
	}
	return proto.Marshal(m)
}

// Unmarshal implements connect.Codec.
func (Binary) Unmarshal(data []byte, message any) error {
	m, err := messageOf(message)
	if err != nil {
		return err
	}
	return proto.Unmarshal(data, m)
}

// MarshalStable tells the Connect library how requests are written into addresses.
func (Binary) MarshalStable(message any) ([]byte, error) {
	m, err := messageOf(message)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// mend replaces what is no UTF-8 in the strings of a message, and says whether there was such.
func mend(m protoreflect.Message) (changed bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			if f.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
					changed = mend(v.Message()) || changed
					return true
				})
			}
		case f.IsList():
			for i := range v.List().Len() {
				if at := v.List().Get(i); f.Message() != nil {
					changed = mend(at.Message()) || changed
				} else if s, ok := valid(f, at); ok {
					v.List().Set(i, s)
					changed = true
				}
			}
		case f.Message() != nil:
			changed = mend(v.Message()) || changed
		default:
			if s, ok := valid(f, v); ok {
				m.Set(f, s)
				changed = true
			}
		}
		return true
	})
	return changed
}

// valid returns the UTF-8 of a string that is none; ok is false for other values.
func valid(f protoreflect.FieldDescriptor, v protoreflect.Value) (out protoreflect.Value, ok bool) {
	if f.Kind() != protoreflect.StringKind {
		return v, false
	}
	text := strings.ToValidUTF8(v.String(), "\uFFFD")
	return protoreflect.ValueOfString(text), text != v.String()
}
