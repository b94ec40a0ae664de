package iopddl

import (
	"bytes"
	"encoding/binary"

	"autoshard/internal/diag"
)

// lines knows where the lines of a stream begin, in about a byte a line.
type lines struct {
	lengths []byte // of all lines but the last, as unsigned varints
	last    int64  // offset of the last line
	seen    int64
}

// add takes the next part of the stream.
func (l *lines) add(part []byte) {
	for {
		i := bytes.IndexByte(part, '\n')
		if i < 0 {
			l.seen += int64(len(part))
			return
		}
		part = part[i+1:]
		l.seen += int64(i + 1)
		l.lengths = binary.AppendUvarint(l.lengths, uint64(l.seen-l.last))
		l.last = l.seen
	}
}

// position returns the line and the column, in bytes, of an offset.
func (l *lines) position(file string, at int64) diag.Position {
	line, start := 1, int64(0)
	for rest := l.lengths; len(rest) > 0; line++ {
		length, n := binary.Uvarint(rest)
		if start+int64(length) > at {
			break
		}
		start += int64(length)
		rest = rest[n:]
	}
	return diag.Position{File: file, Line: line, Col: int(at-start) + 1}
}
