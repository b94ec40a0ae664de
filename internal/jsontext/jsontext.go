// Package jsontext reads JSON texts into Go values, and says what in a text the type of the value does not have, and where.
//
//	var p Plan
//	unknown, err := jsontext.Unmarshal(src, &p)
//	unknown[0].Path   // estimate.joules
//	unknown[0].Offset // of its first byte in src
//
// It differs from encoding/json where that is lenient with what a person or a disk changed: a field that is given twice, or is written in
// other letters than the type has it, is an error.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Field is a field of a text.
type Field struct {
	Path   string // from the outermost value on, such as certificate.gap or inputs[2].name
	Offset int    // of its first byte in the text
}

// Error is what is wrong with a text.
type Error struct {
	Message string
	Offset  int // of the byte where that is seen
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unmarshal reads a text that holds one value, and returns the fields that the value has no place for, in the order of the text. Errors are
// of type *Error.
func Unmarshal(src []byte, into any) (unknown []Field, err error) {
	w := &walker{src: src, decoder: json.NewDecoder(bytes.NewReader(src))}
	if err := w.value(reflect.TypeOf(into), ""); err != nil {
		return nil, err
	}
	if rest := bytes.TrimLeft(src[w.decoder.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, &Error{"something follows the value", len(src) - len(rest)}
	}
	return w.unknown, located(json.Unmarshal(src, into))
}

// Member returns the value of a field of the object that a text begins with, and where its first byte is; false where there is none, or the
// text ends or goes wrong before it.
func Member(src []byte, name string) (value json.RawMessage, offset int, ok bool) {
	w := &walker{src: src, decoder: json.NewDecoder(bytes.NewReader(src))}
	if token, err := w.next(); err != nil || token != json.Delim('{') {
		return nil, 0, false
	}
	for w.decoder.More() {
		key, err := w.next()
		if err != nil || w.decoder.Decode(&value) != nil {
			return nil, 0, false
		}
		if key == name {
			return value, int(w.decoder.InputOffset()) - len(value), true
		}
	}
	return nil, 0, false
}

// located returns an error of encoding/json with its place.
func located(err error) error {
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mismatch):
		return &Error{fmt.Sprintf("%s must be %s, not %s", mismatch.Field, plain(mismatch.Type), mismatch.Value), int(mismatch.Offset) - 1}
	}
	return &Error{Message: err.Error()}
}

// plain names what JSON calls the values of a type.
func plain(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// walker reads a text token by token beside a type.
type walker struct {
	src     []byte
	decoder *json.Decoder
	unknown []Field
}

// next returns the next token.
func (w *walker) next() (json.Token, error) {
	token, err := w.decoder.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, &Error{err.Error(), int(syntax.Offset)}
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &Error{"unexpected end of JSON input", len(w.src)}
	}
	return token, err
}

// value reads a value of a type; nil is that of a field which nothing is known of.
func (w *walker) value(t reflect.Type, path string) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := w.next()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return w.object(t, path)
	case json.Delim('['):
		if t != nil && t.Kind() == reflect.Slice {
			t = t.Elem()
		} else {
			t = nil
		}
		for i := 0; w.decoder.More(); i++ {
			if err := w.value(t, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		_, err = w.next()
	}
	return err
}

// object reads what stands between braces, and the closing one.
func (w *walker) object(t reflect.Type, path string) error {
	seen := map[string]bool{}
	for w.decoder.More() {
		at := w.key()
		token, err := w.next()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		inside := strings.TrimPrefix(path+"."+name, ".")
		if seen[name] {
			return &Error{fmt.Sprintf("%s is given twice", inside), at}
		}
		seen[name] = true
		field, near := fieldOf(t, name)
		switch {
		case near != "":
			return &Error{fmt.Sprintf("%s is written %s", inside, near), at}
		case field == nil && t != nil && t.Kind() == reflect.Struct:
			w.unknown = append(w.unknown, Field{inside, at})
		}
		if err := w.value(field, inside); err != nil {
			return err
		}
	}
	_, err := w.next()
	return err
}

// key returns where the next key begins.
func (w *walker) key() int {
	at := int(w.decoder.InputOffset())
	return at + len(w.src[at:]) - len(bytes.TrimLeft(w.src[at:], " \t\r\n,"))
}

// fieldOf returns the type of the field that a struct has under a name, nil if it has none, and the name of one that differs in the case
// of letters alone, which encoding/json would take.
func fieldOf(t reflect.Type, name string) (field reflect.Type, near string) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, ""
	}
	for i := range t.NumField() {
		tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		switch {
		case tag == "-":
		case tag == name:
			return t.Field(i).Type, ""
		case strings.EqualFold(tag, name):
			near = tag
		}
	}
	return nil, near
}
