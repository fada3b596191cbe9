package proof

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
)

// version is one state of a row that was acknowledged.
type version struct {
	at      time.Time // when it was acknowledged
	owner   string
	number  int
	deleted bool
}

// known is what the ledger knows of one row.
type known struct {
	id      string
	history []version // acknowledged states, oldest first
	busy    int       // writes under way
	touched time.Time // when the latest write ended, whatever came of it
	unsure  bool      // a write failed: it may have landed, or may not
	written map[int]bool
}

func (k *known) last() version { return k.history[len(k.history)-1] }

// ledger is the model: after each acknowledged write it knows what a reader may
// see, and holds every answer against that.
type ledger struct {
	lag time.Duration // of the index at most

	mu     sync.Mutex
	rows   map[string]*known
	faults []string
	reads  int
	writes int
}

func newLedger(lag time.Duration) *ledger { return &ledger{lag: lag, rows: map[string]*known{}} }

func (l *ledger) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// begin says that a write of the row is about to be sent. It gives the number of
// the version that it writes.
func (l *ledger) begin(id string) (*known, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.rows[id]
	if k == nil {
		k = &known{id: id, written: map[int]bool{}}
		l.rows[id] = k
	}
	k.busy++
	number := len(k.written) + 1
	k.written[number] = true
	return k, number
}

// end says what came of it. A write that failed may have landed all the same.
func (l *ledger) end(k *known, v version, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k.busy--
	k.touched = time.Now()
	if err != nil {
		k.unsure = true
		return
	}
	l.writes++
	v.at = time.Now()
	k.history = append(k.history, v)
	k.unsure = false
}

// pick is a row that lives, stands still, and whose state is sure, nil if none is.
func (l *ledger) pick(draw func(int) int) *known {
	l.mu.Lock()
	defer l.mu.Unlock()
	var still []*known
	for _, k := range l.rows {
		if len(k.history) > 0 && k.busy == 0 && !k.unsure && !k.last().deleted {
			still = append(still, k)
		}
	}
	if len(still) == 0 {
		return nil
	}
	slices.SortFunc(still, func(a, b *known) int { return compare(a.id, b.id) })
	return still[draw(len(still))]
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// steady says that nothing was written to the row from a lag before the read
// began until now: then there is only one answer.
func (k *known) steady(began time.Time, lag time.Duration) bool {
	return len(k.history) > 0 && k.busy == 0 && !k.unsure && !k.touched.After(began.Add(-lag))
}

// check holds an answer against the ledger. owners nil means everybody.
func (l *ledger) check(what string, began time.Time, owners []string, rows []fanout.Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	seen := map[string]int{}
	for _, row := range rows {
		id := textOf(row, "PK")
		seen[id]++
		// A row whose owner, and with it the sort key, is just being changed may be
		// on any index under both for a moment, sharded or not.
		if k := l.rows[id]; seen[id] == 2 && k != nil && k.steady(began, l.lag) {
			l.fault("%s: row %s is doubled", what, id)
		}
		l.checkRow(what, began, owners, id, row)
	}
	for id, k := range l.rows {
		if !k.steady(began, l.lag) || k.last().deleted || (owners != nil && !slices.Contains(owners, k.last().owner)) {
			continue
		}
		if seen[id] == 0 {
			l.fault("%s: row %s of %s is missed, written %v before the read", what, id, k.last().owner, began.Sub(k.touched))
		}
	}
}

func (l *ledger) checkRow(what string, began time.Time, owners []string, id string, row fanout.Item) {
	k := l.rows[id]
	if k == nil {
		l.fault("%s: row %s was never written", what, id)
		return
	}
	if !k.steady(began, l.lag) {
		return
	}
	last := k.last()
	if last.deleted {
		l.fault("%s: row %s was deleted %v before the read", what, id, began.Sub(k.touched))
	}
	if owners != nil && !slices.Contains(owners, last.owner) {
		l.fault("%s: row %s belongs to %s", what, id, last.owner)
	}
	if n, ok := row["version"].(*types.AttributeValueMemberN); ok && n.Value != fmt.Sprint(last.number) {
		l.fault("%s: row %s shows version %s, %d was acknowledged %v before", what, id, n.Value, last.number, began.Sub(last.at))
	}
}

// checkCount holds a number against the ledger.
func (l *ledger) checkCount(began time.Time, count int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	must, may := 0, 0
	for _, k := range l.rows {
		switch steady := k.steady(began, l.lag); {
		case steady && !k.last().deleted:
			must, may = must+1, may+1
		case !steady:
			may += 2
		}
	}
	if count < must || count > may {
		l.fault("count: %d, want %d to %d", count, must, may)
	}
}

// unsure says that the row's latest write was never acknowledged.
func (l *ledger) unsure(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.rows[id]
	return k == nil || k.unsure
}

// checkTable holds the base table against the ledger once everything is quiet.
func (l *ledger) checkTable(rows []fanout.Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := map[string]fanout.Item{}
	for _, row := range rows {
		found[textOf(row, "PK")] = row
	}
	for id, k := range l.rows {
		row, there := found[id]
		if len(k.history) == 0 || k.unsure {
			continue
		}
		last := k.last()
		switch {
		case last.deleted && there:
			l.fault("table: row %s came back from the dead", id)
		case !last.deleted && !there:
			l.fault("table: row %s is lost", id)
		case there && (textOf(row, "personId") != last.owner || numberOf(row, "version") != last.number):
			l.fault("table: row %s is of %s in version %d, acknowledged was %s, %d", id, textOf(row, "personId"), numberOf(row, "version"), last.owner, last.number)
		case there && textOf(row, "payload") != payload(id):
			l.fault("table: row %s lost its payload", id)
		}
	}
	for id := range found {
		if l.rows[id] == nil {
			l.fault("table: row %s was never written", id)
		}
	}
}

// payload is what nobody changes.
func payload(id string) string { return "payload of " + id }

func textOf(row fanout.Item, name string) string {
	s, ok := row[name].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}

func numberOf(row fanout.Item, name string) int {
	n, ok := row[name].(*types.AttributeValueMemberN)
	if !ok {
		return -1
	}
	value := 0
	fmt.Sscan(n.Value, &value)
	return value
}
