package jaxexport_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/ir/jaxexport"
)

// sameFields reads a file, writes it, and reads what was written.
func sameFields(t *testing.T, data []byte) {
	e, err := jaxexport.Read(data, "read")
	if err != nil {
		t.Fatal(err)
	}
	again, err := jaxexport.Read(jaxexport.Write(e), "written")
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(meaning(e))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(meaning(again))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// meaning is the document of an export without the tables of unique parts, whose order and number means nothing.
func meaning(e *jaxexport.Exported) object {
	out := document(e)
	if vjp := e.VJP; vjp != nil {
		out["vjp"] = meaning(vjp)
	}
	for name := range out {
		if strings.HasPrefix(name, "unique_") || strings.HasSuffix(name, "_idxs") {
			delete(out, name)
		}
	}
	return out
}

func TestWrittenExportsReadBack(t *testing.T) {
	for _, name := range []string{"step.jaxexport", "symbolic.jaxexport"} {
		t.Run(name, func(t *testing.T) { sameFields(t, fixture(t, name)) })
	}
}

func TestRecordedExportsReadBack(t *testing.T) {
	for name, data := range exports(t) {
		t.Run(filepath.Base(name), func(t *testing.T) { sameFields(t, data) })
	}
}
