package conformance

import (
	"bufio"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// script is a file of tables and of cases that use them.
//
//	table NAME ATTRIBUTE:TYPE [ATTRIBUTE:TYPE]       a table with its key; $NAME in requests
//	name NAME                                        a name for a table that a case creates
//	index NAME global|local ATTRIBUTE:TYPE … PROJECTION[(ATTRIBUTE,…)]
//	== TITLE                                         begins a case
//	[eventually] OPERATION {request}                 the JSON may go over several lines
//
// and after each request what is due:
//
//	=> {answer}       this answer and nothing else
//	~> {answer}       at least these members
//	ok                any answer that is no error
//	!! CODE message   this error and message
//	!~ CODE text      this error, its message holding text
//	!> CODE {answer}  this error, its JSON having at least these members
//
// In an expected answer "<any>" stands for any value, and a member whose name
// ends with ~ holds a list whose order is open. @{text*n} stands for text n times.
type script struct {
	tables []tableSpec
	names  []string
	cases  []scriptCase
}

type tableSpec struct {
	name    string
	key     []attributeSpec
	indexes []indexSpec
}

type attributeSpec struct{ name, kind string }

type indexSpec struct {
	name       string
	global     bool
	key        []attributeSpec
	projection string
	include    []string
}

type scriptCase struct {
	title string
	steps []step
}

type step struct {
	line       int
	eventually bool
	operation  string
	request    string
	due        string // => ~> ok !! !~ !>
	expected   string // JSON, or message
	code       string
}

// parseScript reads a script. An error names the line.
func parseScript(text string) (*script, error) {
	p := &scriptParser{lines: bufio.NewScanner(strings.NewReader(text)), script: new(script)}
	p.lines.Buffer(nil, len(text)+1)
	for p.next() {
		if err := p.statement(); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.number, err)
		}
	}
	return p.script, p.lines.Err()
}

type scriptParser struct {
	lines  *bufio.Scanner
	number int
	line   string
	*script
}

// next goes to the next line that says something.
func (p *scriptParser) next() bool {
	for p.lines.Scan() {
		p.number++
		p.line = strings.TrimLeft(p.lines.Text(), " \t") // messages may end in a space
		if p.line != "" && !strings.HasPrefix(p.line, "#") {
			return true
		}
	}
	return false
}

func (p *scriptParser) statement() error {
	word, rest, _ := strings.Cut(p.line, " ")
	switch word {
	case "table":
		return p.table(strings.Fields(rest))
	case "name":
		p.names = append(p.names, strings.TrimSpace(rest))
		return nil
	case "index":
		return p.index(strings.Fields(rest))
	case "==":
		p.cases = append(p.cases, scriptCase{title: rest})
		return nil
	}
	return p.step()
}

func (p *scriptParser) table(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("table without a key")
	}
	key, err := attributes(words[1:])
	p.tables = append(p.tables, tableSpec{name: words[0], key: key})
	return err
}

func (p *scriptParser) index(words []string) error {
	if len(words) < 4 || len(p.tables) == 0 {
		return fmt.Errorf("index needs a table, a kind, a key and a projection")
	}
	i := indexSpec{name: words[0], global: words[1] == "global"}
	last := words[len(words)-1]
	i.projection, last, _ = strings.Cut(strings.TrimSuffix(last, ")"), "(")
	if last != "" {
		i.include = strings.Split(last, ",")
	}
	var err error
	i.key, err = attributes(words[2 : len(words)-1])
	t := &p.tables[len(p.tables)-1]
	t.indexes = append(t.indexes, i)
	return err
}

func attributes(words []string) ([]attributeSpec, error) {
	var specs []attributeSpec
	for _, word := range words {
		name, kind, found := strings.Cut(word, ":")
		if !found {
			return nil, fmt.Errorf("%q is no attribute:type", word)
		}
		specs = append(specs, attributeSpec{name, kind})
	}
	return specs, nil
}

func (p *scriptParser) step() error {
	if len(p.cases) == 0 {
		return fmt.Errorf("request outside of a case")
	}
	s := step{line: p.number}
	line, eventually := strings.CutPrefix(p.line, "eventually ")
	s.eventually = eventually
	var found bool
	if s.operation, s.request, found = strings.Cut(line, " "); !found {
		return fmt.Errorf("%q is no request", p.line)
	}
	request, err := p.document(s.request)
	if err != nil {
		return err
	}
	s.request = request
	if !p.next() {
		return fmt.Errorf("%s has no answer", s.operation)
	}
	if err := p.expectation(&s); err != nil {
		return err
	}
	c := &p.cases[len(p.cases)-1]
	c.steps = append(c.steps, s)
	return nil
}

func (p *scriptParser) expectation(s *step) (err error) {
	var rest string
	s.due, rest, _ = strings.Cut(p.line, " ")
	switch s.due {
	case "ok":
	case "=>", "~>":
		s.expected, err = p.document(rest)
	case "!!", "!~":
		s.code, s.expected, _ = strings.Cut(rest, " ")
		s.expected = repeat(s.expected)
	case "!>":
		s.code, rest, _ = strings.Cut(rest, " ")
		s.expected, err = p.document(rest)
	default:
		return fmt.Errorf("%q is no answer", p.line)
	}
	return err
}

// document takes lines until every bracket of the JSON is closed.
func (p *scriptParser) document(text string) (string, error) {
	for open(text) > 0 {
		if !p.lines.Scan() {
			return "", fmt.Errorf("JSON is not closed: %.60s", text)
		}
		p.number++
		text += " " + strings.TrimSpace(p.lines.Text())
	}
	return repeat(text), nil
}

// open counts brackets that wait to be closed, outside of strings.
func open(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth
}

var repetition = regexp.MustCompile(`@\{(.+?)\*(\d+)\}`)

// repeat writes out @{text*n}.
func repeat(text string) string {
	return repetition.ReplaceAllStringFunc(text, func(m string) string {
		parts := repetition.FindStringSubmatch(m)
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			return m
		}
		return strings.Repeat(parts[1], n)
	})
}
