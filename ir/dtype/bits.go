package dtype

import "encoding/binary"

// Part returns the type of the parts of complex numbers, any other type itself.
func (t Type) Part() Type {
	switch t {
	case C64:
		return F32
	case C128:
		return F64
	}
	return t
}

// ComplexOf returns the type of complex numbers with parts of a type, Invalid where there is none.
func ComplexOf(part Type) Type {
	switch part {
	case F32:
		return C64
	case F64:
		return C128
	}
	return Invalid
}

// AppendBits appends one element that is no complex number, little-endian, in whole bytes.
func AppendBits(data []byte, t Type, bits uint64) []byte {
	switch t.Bytes() {
	case 1:
		return append(data, byte(bits))
	case 2:
		return binary.LittleEndian.AppendUint16(data, uint16(bits))
	case 3:
		return append(data, byte(bits), byte(bits>>8), byte(bits>>16))
	case 4:
		return binary.LittleEndian.AppendUint32(data, uint32(bits))
	}
	return binary.LittleEndian.AppendUint64(data, bits)
}

// LoadBits returns the bits of an element that AppendBits has written.
func LoadBits(data []byte) uint64 {
	var raw [8]byte
	copy(raw[:], data)
	return binary.LittleEndian.Uint64(raw[:])
}
