package ir

import "strconv"

// FormatType returns the text of a type as MLIR prints it, such as tensor<4x?xf32>.
func (m *Module) FormatType(id TypeID) string { return string(m.AppendType(nil, id)) }

// AppendType appends the text of a type to dst.
func (m *Module) AppendType(dst []byte, id TypeID) []byte {
	switch t := m.TypeOf(id); t.Kind {
	case TensorKind:
		return m.appendTensor(dst, t)
	case ScalarKind:
		return append(dst, t.DType.String()...)
	case IndexKind:
		return append(dst, "index"...)
	case NoneKind:
		return append(dst, "none"...)
	case TokenKind:
		return append(dst, "!stablehlo.token"...)
	case TupleKind:
		return append(m.appendTypes(append(dst, "tuple<"...), t.Elems), '>')
	case FunctionKind:
		dst = append(m.appendTypes(append(dst, '('), t.Elems[:t.Inputs]), ") -> "...)
		results := t.Elems[t.Inputs:]
		if len(results) == 1 && m.TypeOf(results[0]).Kind != FunctionKind {
			return m.AppendType(dst, results[0])
		}
		return append(m.appendTypes(append(dst, '('), results), ')')
	default:
		return append(dst, t.Text...)
	}
}

func (m *Module) appendTypes(dst []byte, list []TypeID) []byte {
	for i, t := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = m.AppendType(dst, t)
	}
	return dst
}

func (m *Module) appendTensor(dst []byte, t *Type) []byte {
	dst = append(dst, "tensor<"...)
	if t.Unranked {
		dst = append(dst, "*x"...)
	}
	for _, d := range t.Dims {
		if d == Dynamic {
			dst = append(dst, '?')
		} else {
			dst = strconv.AppendInt(dst, d, 10)
		}
		dst = append(dst, 'x')
	}
	if t.Quant != 0 {
		dst = m.AppendType(dst, t.Quant)
	} else {
		dst = append(dst, t.DType.String()...)
	}
	if t.Encoding != "" {
		dst = append(append(dst, ", "...), t.Encoding...)
	}
	return append(dst, '>')
}
