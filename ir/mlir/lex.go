package mlir

// tokenKind is the kind of a token (specification: stablehlo.md section 1.1).
type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokBad           // a byte or string that is no token; the parser reports it
	tokIdent
	tokValue      // %0, %name
	tokSymbol     // @name, @"name"
	tokBlock      // ^bb0
	tokHash       // #name, #dialect.name
	tokBang       // !name, !dialect.name
	tokInt        // decimal or hexadecimal
	tokFloat      // digits with a dot
	tokString     // with its quotes
	tokArrow      // ->
	tokColon      // :
	tokColonColon // ::
	tokComma
	tokEqual
	tokLess
	tokGreater
	tokLParen
	tokRParen
	tokLBrace
	tokRBrace
	tokLSquare
	tokRSquare
	tokQuestion
	tokStar
	tokPlus
	tokMinus
	tokSlash
	tokBar
	tokMetaBegin // {-#
	tokMetaEnd   // #-}
)

var tokenNames = [...]string{
	tokEOF: "end of file", tokBad: "invalid token", tokIdent: "identifier", tokValue: "SSA value", tokSymbol: "symbol",
	tokBlock: "block name", tokHash: "attribute", tokBang: "type", tokInt: "integer", tokFloat: "float", tokString: "string",
	tokArrow: "'->'", tokColon: "':'", tokColonColon: "'::'", tokComma: "','", tokEqual: "'='", tokLess: "'<'", tokGreater: "'>'",
	tokLParen: "'('", tokRParen: "')'", tokLBrace: "'{'", tokRBrace: "'}'", tokLSquare: "'['", tokRSquare: "']'",
	tokQuestion: "'?'", tokStar: "'*'", tokPlus: "'+'", tokMinus: "'-'", tokSlash: "'/'", tokBar: "'|'",
	tokMetaBegin: "'{-#'", tokMetaEnd: "'#-}'",
}

func (k tokenKind) String() string { return tokenNames[k] }

// token is a piece of the source: text[start:end], and the line it is on.
type token struct {
	kind       tokenKind
	start, end int
	line       int // from 1
	lineStart  int // offset of the first byte of the line
}

// lexer cuts a text into tokens. It holds the one token that the parser looks at.
type lexer struct {
	src       string
	off       int // behind the current token
	line      int
	lineStart int
	tok       token
}

// Classes of bytes.
const (
	classLetter = 1 << iota // A-Z a-z
	classDigit
	classIdent  // A-Z a-z 0-9 _ $ .
	classSuffix // the same and -
	classHex
)

var classes = func() (t [256]uint8) {
	for c := range 256 {
		switch b := byte(c); {
		case b >= '0' && b <= '9':
			t[c] = classDigit | classIdent | classSuffix | classHex
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
			t[c] = classLetter | classIdent | classSuffix
			if l := b | 0x20; l >= 'a' && l <= 'f' {
				t[c] |= classHex
			}
		case b == '_' || b == '$' || b == '.':
			t[c] = classIdent | classSuffix
		case b == '-':
			t[c] = classSuffix
		}
	}
	return t
}()

func isDigit(c byte) bool { return classes[c]&classDigit != 0 }

// text returns the current token's text.
func (l *lexer) text() string { return l.src[l.tok.start:l.tok.end] }

// peek returns the byte at an offset, 0 beyond the end.
func (l *lexer) peek(off int) byte {
	if off < len(l.src) {
		return l.src[off]
	}
	return 0
}

// skipSpace moves off to the next token, over white space and comments.
func (l *lexer) skipSpace() {
	src, off := l.src, l.off
	for off < len(src) {
		switch src[off] {
		case ' ', '\t', '\r':
			off++
		case '\n':
			off++
			l.line++
			l.lineStart = off
		case '/':
			if off+1 >= len(src) || src[off+1] != '/' {
				l.off = off
				return
			}
			for off < len(src) && src[off] != '\n' {
				off++
			}
		default:
			l.off = off
			return
		}
	}
	l.off = off
}

// next reads the next token.
func (l *lexer) next() {
	l.skipSpace()
	start := l.off
	kind := tokEOF
	if start < len(l.src) {
		kind = l.scan(l.src[start])
	}
	l.tok = token{kind, start, l.off, l.line, l.lineStart}
}

var punctuation = [256]tokenKind{':': tokColon, ',': tokComma, '=': tokEqual, '<': tokLess, '>': tokGreater, '(': tokLParen,
	')': tokRParen, '{': tokLBrace, '}': tokRBrace, '[': tokLSquare, ']': tokRSquare, '?': tokQuestion, '*': tokStar,
	'+': tokPlus, '-': tokMinus, '/': tokSlash, '|': tokBar}

// scan reads the token that begins with c and moves off behind it.
func (l *lexer) scan(c byte) tokenKind {
	switch {
	case classes[c]&classLetter != 0 || c == '_':
		l.off = l.run(l.off+1, classIdent)
		return tokIdent
	case c == '%':
		return l.prefixed(tokValue)
	case classes[c]&classDigit != 0:
		return l.number()
	}
	switch c {
	case '"':
		return l.quoted(l.off)
	case '@':
		return l.symbol()
	case '#':
		if l.peek(l.off+1) == '-' && l.peek(l.off+2) == '}' {
			l.off += 3
			return tokMetaEnd
		}
		return l.prefixed(tokHash)
	case '!':
		return l.prefixed(tokBang)
	case '^':
		return l.prefixed(tokBlock)
	case '-':
		if l.peek(l.off+1) == '>' {
			l.off += 2
			return tokArrow
		}
	case ':':
		if l.peek(l.off+1) == ':' {
			l.off += 2
			return tokColonColon
		}
	case '{':
		if l.peek(l.off+1) == '-' && l.peek(l.off+2) == '#' {
			l.off += 3
			return tokMetaBegin
		}
	}
	l.off++
	if k := punctuation[c]; k != tokEOF {
		return k
	}
	return tokBad
}

// run returns the end of the bytes of a class that begin at off.
func (l *lexer) run(off int, class uint8) int {
	for off < len(l.src) && classes[l.src[off]]&class != 0 {
		off++
	}
	return off
}

// prefixed reads % # ! ^ with a number or a name behind it.
func (l *lexer) prefixed(kind tokenKind) tokenKind {
	l.off++
	c := l.peek(l.off)
	switch {
	case isDigit(c):
		l.off = l.run(l.off, classDigit)
	case classes[c]&classSuffix != 0:
		l.off = l.run(l.off, classSuffix)
	default:
		return tokBad
	}
	return kind
}

func (l *lexer) symbol() tokenKind {
	c := l.peek(l.off + 1)
	switch {
	case c == '"':
		if l.quoted(l.off+1) == tokBad {
			return tokBad
		}
	case classes[c]&classLetter != 0 || c == '_':
		l.off = l.run(l.off+2, classIdent)
	default:
		l.off++
		return tokBad
	}
	return tokSymbol
}

// number reads an integer or a float. 0x begins a hexadecimal number only before a hexadecimal digit.
func (l *lexer) number() tokenKind {
	if l.src[l.off] == '0' && l.peek(l.off+1) == 'x' && classes[l.peek(l.off+2)]&classHex != 0 {
		l.off = l.run(l.off+2, classHex)
		return tokInt
	}
	l.off = l.run(l.off, classDigit)
	if l.peek(l.off) != '.' {
		return tokInt
	}
	l.off = l.run(l.off+1, classDigit)
	if c := l.peek(l.off); c == 'e' || c == 'E' {
		exp := l.off + 1
		if s := l.peek(exp); s == '+' || s == '-' {
			exp++
		}
		if isDigit(l.peek(exp)) {
			l.off = l.run(exp, classDigit)
		}
	}
	return tokFloat
}

// quoted reads a string whose opening quote is at off. Strings end on their line.
func (l *lexer) quoted(off int) tokenKind {
	src := l.src
	for i := off + 1; i < len(src); i++ {
		switch src[i] {
		case '"':
			l.off = i + 1
			return tokString
		case '\n':
			l.off = i
			return tokBad
		case '\\':
			switch c := l.peek(i + 1); {
			case c == '"' || c == '\\' || c == 'n' || c == 't':
				i++
			case classes[c]&classHex != 0 && classes[l.peek(i+2)]&classHex != 0:
				i += 2
			default:
				l.off = i + 1
				return tokBad
			}
		}
	}
	l.off = len(src)
	return tokBad
}

// unescape returns the bytes of a string literal with its quotes.
func unescape(literal string) string {
	body := literal[1 : len(literal)-1]
	for i := 0; ; i++ {
		if i == len(body) {
			return body
		}
		if body[i] == '\\' {
			break
		}
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '\\' {
			i++
			switch c = body[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case '"', '\\':
			default:
				c = hexDigit(body[i])<<4 | hexDigit(body[i+1])
				i++
			}
		}
		out = append(out, c)
	}
	return string(out)
}

func hexDigit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
