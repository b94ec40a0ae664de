package cmdline

import (
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Page is Write of a text for a person. On a terminal it has colours, unless $NO_COLOR is set, and where it is longer than the terminal it
// goes through $PAGER, or less.
func (s *Streams) Page(file, page string) error {
	screen, ok := s.Out.(*os.File)
	if file != "" && file != "-" || !ok || !term.IsTerminal(int(screen.Fd())) {
		return s.Write(file, []byte(page))
	}
	if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		page = paint(page)
	}
	_, height, err := term.GetSize(int(screen.Fd()))
	if err == nil && strings.Count(page, "\n") >= height && s.throughPager(page, screen) {
		return nil
	}
	return s.Write(file, []byte(page))
}

// throughPager shows a page in the user's pager, and returns false where there is none that starts.
func (s *Streams) throughPager(page string, screen *os.File) bool {
	command := strings.Fields(os.Getenv("PAGER"))
	if len(command) == 0 {
		command = []string{"less", "-R"}
	}
	pager := exec.Command(command[0], command[1:]...)
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(page), screen, s.Err
	if pager.Start() != nil {
		return false
	}
	_ = pager.Wait() // its exit status says how the reader left
	return true
}

// inks are the colours of parts of a page; of parts that overlap, the first counts.
var inks = []struct {
	colors text.Colors
	of     string // a regular expression
}{
	{text.Colors{text.Bold}, `^user priority .*|^\S.* is (?:not )?sharded.*|^why not .*`},
	{text.Colors{text.FgRed}, `is kept from|refused`},
	{text.Colors{text.FgGreen}, `is given|starts at|given   |change:`},
	{text.Colors{text.FgCyan}, `"\w[\w.]*"(?::\(\d+\)\d+)?`},
	{text.Colors{text.Faint}, `\([^()\s]+:\d+\)|:\d+\b`},
}

var painted = func() *regexp.Regexp {
	var parts []string
	for _, ink := range inks {
		parts = append(parts, "("+ink.of+")")
	}
	return regexp.MustCompile("(?m)" + strings.Join(parts, "|"))
}()

// paint colours a page.
func paint(page string) string {
	return painted.ReplaceAllStringFunc(page, func(part string) string {
		for i, at := range painted.FindStringSubmatch(part)[1:] {
			if at == part {
				return inks[i].colors.EscapeSeq() + part + text.EscapeReset
			}
		}
		return part
	})
}
