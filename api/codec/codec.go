// Package codec writes and reads messages as proto3 JSON in the form that files of autoshard have: a plan in a reply is a plan.json. Errors
// of the library are codes and diagnostics there, for servers and clients alike.
//
//	text, err := codec.Text(ctx, plan) // lines as in plan.json
package codec

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// JSON is a codec of Connect of this name: proto3 JSON with two differences from the usual codec. 64-bit integers are written as
// numbers, so that a plan in a reply is a plan.json; readers of proto3 JSON accept both. Unknown fields of requests are errors, because
// a misspelt field of a model must not be ignored.
type JSON string

// Name implements connect.Codec.
func (c JSON) Name() string { return string(c) }

// Marshal implements connect.Codec.
func (c JSON) Marshal(message any) ([]byte, error) {
	m, err := messageOf(message)
	if err != nil {
		return nil, err
	}
	w := &jsonWriter{ctx: context.Background(), zeros: true}
	return w.message(nil, m.ProtoReflect())
}

// Unmarshal implements connect.Codec.
func (c JSON) Unmarshal(data []byte, message any) error {
	m, err := messageOf(message)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("body is empty, it must be a JSON object")
	}
	return protojson.Unmarshal(data, m)
}

// messageOf returns what the Connect library hands to a codec.
func messageOf(message any) (proto.Message, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a protobuf message", message)
	}
	return m, nil
}

// IsBinary tells the Connect library that replies to GET requests are text.
func (c JSON) IsBinary() bool { return false }

// Text returns a message with a line for each field and element, and those that are not set, too. It fails with the context's error where
// that ends.
func Text(ctx context.Context, m proto.Message) ([]byte, error) {
	w := &jsonWriter{ctx: ctx, zeros: true, indent: true}
	return w.message(nil, m.ProtoReflect())
}

// Given returns a message like [Text], without what is not set.
func Given(ctx context.Context, m proto.Message) ([]byte, error) {
	w := &jsonWriter{ctx: ctx, indent: true}
	return w.message(nil, m.ProtoReflect())
}

// Fill fills a message with a value whose JSON form it has.
func Fill(value any, out proto.Message) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(text, out)
}

// jsonWriter writes messages in proto3 JSON.
type jsonWriter struct {
	ctx    context.Context
	zeros  bool // scalars and lists that are not set are written too
	indent bool // fields and elements have lines of their own, as json.Indent with two spaces has them
	depth  int
}

// ours is the package of the schema.
const ours = "autoshard.v1"

// message appends a message.
func (w *jsonWriter) message(out []byte, m protoreflect.Message) ([]byte, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	if m.Descriptor().ParentFile().Package() != ours {
		return w.foreign(out, m)
	}
	out = append(out, '{')
	w.depth++
	fields := m.Descriptor().Fields()
	first := true
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) && (!w.zeros || f.HasPresence()) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(strconv.AppendQuote(w.newline(out), f.JSONName()), ':')
		if w.indent {
			out = append(out, ' ')
		}
		var err error
		if out, err = w.field(out, f, m.Get(f)); err != nil {
			return nil, err
		}
	}
	if w.depth--; !first {
		out = w.newline(out)
	}
	return append(out, '}'), nil
}

// newline begins a line, where things have lines of their own.
func (w *jsonWriter) newline(out []byte) []byte {
	if !w.indent {
		return out
	}
	out = append(out, '\n')
	for range w.depth {
		out = append(out, "  "...)
	}
	return out
}

// foreign leaves messages of other schemas, such as Struct and those of health, to the library, whose random spaces are removed.
func (w *jsonWriter) foreign(out []byte, m protoreflect.Message) ([]byte, error) {
	text, err := protojson.Marshal(m.Interface())
	if err != nil {
		return nil, err
	}
	var plain bytes.Buffer
	if w.indent {
		err = json.Indent(&plain, text, strings.Repeat("  ", w.depth), "  ")
	} else {
		err = json.Compact(&plain, text)
	}
	return append(out, plain.Bytes()...), err
}

func (w *jsonWriter) field(out []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	switch {
	case f.IsMap():
		return nil, fmt.Errorf("field %s is a map, which the schema does not use", f.FullName())
	case !f.IsList():
		return w.value(out, f, v)
	}
	out = append(out, '[')
	w.depth++
	list := v.List()
	for i := range list.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = w.value(w.newline(out), f, list.Get(i)); err != nil {
			return nil, err
		}
	}
	if w.depth--; list.Len() > 0 {
		out = w.newline(out)
	}
	return append(out, ']'), nil
}

func (w *jsonWriter) value(out []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return w.message(out, v.Message())
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
