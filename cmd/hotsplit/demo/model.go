package demo

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
)

// rowKey is a base primary key as the model tells rows apart: a struct, so that
// no separator can make two of them one.
type rowKey struct{ partition, sort keyPart }

// keyPart is a key attribute's type and text; bytes are kept as a string.
type keyPart struct {
	kind byte // 'S', 'N', 'B', or 0 for a table without a sort key
	text string
}

func partOf(v types.AttributeValue) keyPart {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return keyPart{'S', v.Value}
	case *types.AttributeValueMemberN:
		return keyPart{'N', v.Value}
	case *types.AttributeValueMemberB:
		return keyPart{'B', string(v.Value)}
	default:
		return keyPart{}
	}
}

func (p keyPart) value() types.AttributeValue {
	switch p.kind {
	case 'N':
		return &types.AttributeValueMemberN{Value: p.text}
	case 'B':
		return &types.AttributeValueMemberB{Value: []byte(p.text)}
	default:
		return &types.AttributeValueMemberS{Value: p.text}
	}
}

// modelRow is what is known of one row.
type modelRow struct {
	key       rowKey
	owner     string
	archived  bool
	loaded    bool      // before the traffic began
	due       time.Time // from here on every reader sees the row; zero until it is acknowledged
	deletedAt time.Time // when its deletion began; zero while it lives
}

// model knows what must be visible. A row counts from its acknowledgement plus
// the index's longest lag, until its deletion begins: in between, an eventually
// consistent index may or may not show it.
type model struct {
	lagMax time.Duration
	names  []string // attributes of the base key

	mu      sync.Mutex
	rows    map[rowKey]*modelRow
	loaded  []*modelRow // the rows of the load, which live to the end
	byOwner map[string][]*modelRow
	tally   Reads
}

// Reads is the checker's verdict over all answers.
type Reads struct {
	Checked int `json:"checked"` // answers
	Missed  int `json:"missed"`  // rows that had to be in an answer and were not
	Doubled int `json:"doubled"` // rows that were in an answer twice
	Foreign int `json:"foreign"` // rows of an owner that was not asked for, or that never existed
}

func newModel(keyNames []string, lagMax time.Duration) *model {
	return &model{lagMax: lagMax, names: keyNames, rows: map[rowKey]*modelRow{}, byOwner: map[string][]*modelRow{}}
}

func (m *model) keyOf(it item) rowKey {
	k := rowKey{partition: partOf(it[m.names[0]])}
	if len(m.names) > 1 {
		k.sort = partOf(it[m.names[1]])
	}
	return k
}

func (m *model) keyItem(k rowKey) item {
	it := item{m.names[0]: k.partition.value()}
	if len(m.names) > 1 {
		it[m.names[1]] = k.sort.value()
	}
	return it
}

// load adds a row that is in the index before the traffic starts.
func (m *model) load(it item, owner string, archived bool) {
	row := m.creating(it, owner)
	row.archived, row.loaded, row.due = archived, true, time.Now()
	m.loaded = append(m.loaded, row)
}

// creating says that the row is about to be written.
func (m *model) creating(it item, owner string) *modelRow {
	m.mu.Lock()
	defer m.mu.Unlock()
	row := &modelRow{key: m.keyOf(it), owner: owner}
	m.rows[row.key] = row
	m.byOwner[owner] = append(m.byOwner[owner], row)
	return row
}

// acknowledged says that the row's creation was confirmed just now.
func (m *model) acknowledged(row *modelRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row.due = time.Now().Add(m.lagMax)
}

// deleting says that the row's deletion is about to be sent.
func (m *model) deleting(row *modelRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row.deletedAt = time.Now()
}

// loadedRow says that the row is one of the load that the move is about.
func (m *model) loadedRow(k rowKey) bool {
	row := m.rows[k]
	return row != nil && row.loaded
}

// owners lists who has rows, in order.
func (m *model) owners() []string { return slices.Sorted(maps.Keys(m.byOwner)) }

// some is one of the loaded rows, nil where there are none.
func (m *model) some(draw func(int) int) *modelRow {
	if len(m.loaded) == 0 {
		return nil
	}
	return m.loaded[draw(len(m.loaded))]
}

// question is what a reader asked for and when.
type question struct {
	owners   []string // nil: everybody
	openOnly bool
	started  time.Time
}

func (q question) wants(row *modelRow) bool { return !q.openOnly || !row.archived }

// must says that the row has to be in the answer to q.
func (row *modelRow) must(q question) bool {
	return q.wants(row) && !row.due.IsZero() && !row.due.After(q.started) && row.deletedAt.IsZero()
}

// check compares an answer with what had to be visible.
func (m *model) check(q question, answer []fanout.Item) {
	seen := make(map[rowKey]int, len(answer))
	for _, it := range answer {
		seen[m.keyOf(it)]++
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tally.Checked++
	for k, times := range seen {
		if times > 1 {
			m.tally.Doubled++
		}
		if row := m.rows[k]; row == nil || (q.owners != nil && !slices.Contains(q.owners, row.owner)) {
			m.tally.Foreign++
		}
	}
	for row := range m.asked(q) {
		if row.must(q) && seen[row.key] == 0 {
			m.tally.Missed++
		}
	}
}

// checkCount compares a count with how many rows had to be visible.
func (m *model) checkCount(q question, count int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tally.Checked++
	must, may := 0, 0
	for row := range m.asked(q) {
		if row.must(q) {
			must++
		}
		if gone := !row.deletedAt.IsZero() && q.started.Sub(row.deletedAt) > goneAfter; q.wants(row) && !gone {
			may++
		}
	}
	m.tally.Missed += max(0, must-count)
	m.tally.Doubled += max(0, count-may)
}

// goneAfter is when a deletion is surely answered and out of the index.
const goneAfter = 15 * time.Second

func (m *model) asked(q question) iter.Seq[*modelRow] {
	if q.owners == nil {
		return maps.Values(m.rows)
	}
	return func(yield func(*modelRow) bool) {
		for _, owner := range q.owners {
			for _, row := range m.byOwner[owner] {
				if !yield(row) {
					return
				}
			}
		}
	}
}

func (m *model) reads() Reads {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tally
}
