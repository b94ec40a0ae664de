package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// jsonCodec is proto3 JSON with two differences from the usual codec. 64-bit integers are written as numbers, so that
// a plan in a reply is a plan.json; readers of proto3 JSON accept both. Unknown fields of requests are errors, because
// a misspelt field of a model must not be ignored.
type jsonCodec struct{ name string }

func (c jsonCodec) Name() string { return c.name }

func (c jsonCodec) Marshal(message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a protobuf message", message)
	}
	return appendMessage(nil, m.ProtoReflect(), true)
}

func (c jsonCodec) Unmarshal(data []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a protobuf message", message)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("body is empty, it must be a JSON object")
	}
	return protojson.Unmarshal(data, m)
}

// IsBinary tells the Connect library that replies to GET requests are text.
func (c jsonCodec) IsBinary() bool { return false }

// appendMessage appends a message in proto3 JSON. With zeros, scalars and lists that are not set are written too.
func appendMessage(out []byte, m protoreflect.Message, zeros bool) ([]byte, error) {
	if m.Descriptor().FullName().Parent() == "google.protobuf" {
		return appendWellKnown(out, m)
	}
	out = append(out, '{')
	fields := m.Descriptor().Fields()
	first := true
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) && (!zeros || f.HasPresence()) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(strconv.AppendQuote(out, f.JSONName()), ':')
		var err error
		if out, err = appendField(out, f, m.Get(f), zeros); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendWellKnown leaves Struct and its kin to the library, whose random spaces are removed.
func appendWellKnown(out []byte, m protoreflect.Message) ([]byte, error) {
	text, err := protojson.Marshal(m.Interface())
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	return append(out, compact.Bytes()...), nil
}

func appendField(out []byte, f protoreflect.FieldDescriptor, v protoreflect.Value, zeros bool) ([]byte, error) {
	switch {
	case f.IsMap():
		return nil, fmt.Errorf("field %s is a map, which the schema does not use", f.FullName())
	case !f.IsList():
		return appendValue(out, f, v, zeros)
	}
	out = append(out, '[')
	list := v.List()
	for i := range list.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, f, list.Get(i), zeros); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendValue(out []byte, f protoreflect.FieldDescriptor, v protoreflect.Value, zeros bool) ([]byte, error) {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return appendMessage(out, v.Message(), zeros)
	case protoreflect.EnumKind:
		if e := f.Enum().Values().ByNumber(v.Enum()); e != nil {
			return strconv.AppendQuote(out, string(e.Name())), nil
		}
		return strconv.AppendInt(out, int64(v.Enum()), 10), nil
	case protoreflect.StringKind:
		return appendString(out, v.String())
	case protoreflect.BytesKind:
		return strconv.AppendQuote(out, base64.StdEncoding.EncodeToString(v.Bytes())), nil
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		switch x := v.Float(); {
		case math.IsNaN(x):
			return append(out, `"NaN"`...), nil
		case math.IsInf(x, 1):
			return append(out, `"Infinity"`...), nil
		case math.IsInf(x, -1):
			return append(out, `"-Infinity"`...), nil
		}
	}
	text, err := json.Marshal(v.Interface())
	return append(out, text...), err
}

func appendString(out []byte, s string) ([]byte, error) {
	b := bytes.NewBuffer(out)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
