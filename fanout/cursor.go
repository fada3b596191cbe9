package fanout

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrCursor: the text is not a cursor of this query: damaged, of another table,
// owner, direction, range or filter, or of a newer release. Do not retry; it is
// the client's fault, HTTP 400.
var ErrCursor = errors.New("fanout: cursor is not of this query")

// ErrCursorExpired: the cursor was right and cannot be continued, because the
// rows that it still owes may have moved since. Only cursors of partial pages
// expire, when the routing changes. Start again at page one, HTTP 410.
var ErrCursorExpired = errors.New("fanout: cursor expired")

// cursorVersion is the first byte of every cursor. Another layout of the bytes is
// another version, and a version that is not known is refused.
const cursorVersion = 1

// sumBytes is the length of the checksum over a cursor's bytes.
const sumBytes = 8

// stage says where a shard's part of a walk stands.
type stage byte

const (
	stageShared   stage = iota // after the mark's own position, as all others
	stageFinished              // every row was returned
	stageAfter                 // after a key of its own
	stageFrom                  // at a sort key of its own, the first that may hold a row
	stageOwed                  // failed: after a position of its own
	stageUnopened              // failed before anything of it was returned
	stageEnd
)

// state is a shard's stage and the position that some stages carry.
type state struct {
	stage stage
	at    position
}

// mark is a cursor in clear. Every row up to at was returned, whatever shard held
// it; so at alone continues the walk under any routing. States save what at
// cannot say, and are valid under the one layout and generation they were made.
type mark struct {
	query      [8]byte // fingerprint of the query
	base       [8]byte // fingerprint of what the layouts are called
	layout     [8]byte // fingerprint of the layout that states belong to
	generation int64
	partial    bool // states owe rows before at
	at         *position
	states     []state
}

// encode spells the mark so that it may stand in a URL as it is.
func (m mark) encode() string {
	b := []byte{cursorVersion}
	b = append(b, m.query[:]...)
	b = append(b, m.base[:]...)
	b = append(b, m.layout[:]...)
	b = binary.AppendVarint(b, m.generation)
	b = append(b, flags(m.partial, m.at != nil))
	if m.at != nil {
		b = m.at.appendTo(b)
	}
	b = binary.AppendUvarint(b, uint64(len(m.states)))
	for _, s := range m.states {
		b = append(b, byte(s.stage))
		if s.stage.positioned() {
			b = s.at.appendTo(b)
		}
	}
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(append(b, sum[:sumBytes]...))
}

func (s stage) positioned() bool { return s == stageAfter || s == stageFrom || s == stageOwed }

func flags(set ...bool) (b byte) {
	for i, on := range set {
		if on {
			b |= 1 << i
		}
	}
	return b
}

func (p position) appendTo(b []byte) []byte {
	b = append(b, flags(p.edge))
	for _, s := range []scalar{p.sort, p.base[0], p.base[1]} {
		b = s.appendTo(b)
	}
	return b
}

// decodeMark reads a cursor back. The error wraps ErrCursor.
func decodeMark(cursor string) (mark, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) <= sumBytes {
		return mark{}, fmt.Errorf("%w: not the text of a cursor", ErrCursor)
	}
	body := b[:len(b)-sumBytes]
	if sum := sha256.Sum256(body); string(sum[:sumBytes]) != string(b[len(body):]) {
		return mark{}, fmt.Errorf("%w: damaged", ErrCursor)
	}
	if body[0] != cursorVersion {
		return mark{}, fmt.Errorf("%w: version %d is not known to this release", ErrCursor, body[0])
	}
	s := scan{rest: body[1:]}
	m := s.mark()
	if s.bad || len(s.rest) > 0 {
		return mark{}, fmt.Errorf("%w: damaged", ErrCursor)
	}
	return m, nil
}

// scan takes a cursor's bytes apart; bad stays set once they end too early.
type scan struct {
	rest []byte
	bad  bool
}

func (s *scan) mark() (m mark) {
	copy(m.query[:], s.take(8))
	copy(m.base[:], s.take(8))
	copy(m.layout[:], s.take(8))
	generation, n := binary.Varint(s.rest)
	s.skip(n)
	m.generation = generation
	set := s.byte()
	m.partial = set&1 != 0
	if set&2 != 0 {
		m.at = new(s.position())
	}
	for n := s.uvarint(); n > 0 && !s.bad; n-- {
		m.states = append(m.states, s.state())
	}
	return m
}

func (s *scan) state() (t state) {
	t.stage = stage(s.byte())
	if t.stage >= stageEnd {
		s.bad = true
	}
	if t.stage.positioned() {
		t.at = s.position()
	}
	return t
}

func (s *scan) position() (p position) {
	p.edge = s.byte()&1 != 0
	p.sort, p.base[0], p.base[1] = s.scalar(), s.scalar(), s.scalar()
	return p
}

func (s *scan) scalar() scalar {
	k := kind(s.byte())
	if k != kindNone && k != kindString && k != kindNumber && k != kindBinary {
		s.bad = true
	}
	return scalar{k, string(s.take(s.uvarint()))}
}

func (s *scan) take(n uint64) []byte {
	if s.bad || n > uint64(len(s.rest)) {
		s.bad = true
		return nil
	}
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}

func (s *scan) byte() byte {
	if b := s.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (s *scan) uvarint() uint64 {
	v, n := binary.Uvarint(s.rest)
	s.skip(n)
	return v
}

func (s *scan) skip(n int) {
	if n <= 0 {
		s.bad = true
		return
	}
	s.take(uint64(n))
}

// fingerprint is what a cursor is bound to: everything that decides which rows
// come in which order, and nothing that a move changes.
func (q Query) fingerprint(t Table, s scope) ([8]byte, error) {
	values, err := canonical(q.Filter.Values)
	if err != nil {
		return [8]byte{}, err
	}
	ends, err := canonical(Item{"from": orNull(q.SortKey.From), "to": orNull(q.SortKey.To)})
	if err != nil {
		return [8]byte{}, err
	}
	return digest(t.Name, t.Key, s.name(), q.Descending, q.Filter.Expression, q.Filter.Names, values, ends), nil
}

func digest(parts ...any) (d [8]byte) {
	text, _ := json.Marshal(parts) // strings, bools and maps of strings: nothing that can fail
	sum := sha256.Sum256(text)
	copy(d[:], sum[:])
	return d
}

func orNull(v types.AttributeValue) types.AttributeValue {
	if v == nil {
		return &types.AttributeValueMemberNULL{Value: true}
	}
	return v
}

// canonical spells values with sorted keys. Numbers are strings on the wire, so
// the detour through encoding/json keeps all their digits.
func canonical(values Item) (any, error) {
	text, err := attributevalue.MarshalMapJSON(values)
	if err != nil {
		return nil, fmt.Errorf("%w: value of the filter or range: %w", ErrQuery, err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("%w: value of the filter or range: %w", ErrQuery, err)
	}
	return tree, nil
}
