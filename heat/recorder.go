package heat

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// Options tunes a recorder. The zero value is what we use in production.
type Options struct {
	Keys      int    // keys kept for each table and index; 0 means 256
	Columns   int    // columns of the heat map; 0 means 900, which are 15 minutes by the second
	Span      bool   // keep the whole time in ever coarser columns, not the last ones
	Separator string // between owner and time in sort keys; "" means "#"

	// HashKeys keeps and exports a short salted SHA-256 in place of each key
	// value, for keys that name people.
	HashKeys bool
	Salt     string

	// Tables names the key attributes, so that requests that show several can be
	// told apart. A table that is not listed is guessed from its requests.
	Tables []Schema

	// Trace receives every event, already hashed.
	Trace *TraceWriter
}

func (o Options) withDefaults() Options {
	if o.Keys == 0 {
		o.Keys = 256
	}
	if o.Columns == 0 {
		o.Columns = 900
	}
	if o.Separator == "" {
		o.Separator = "#"
	}
	return o
}

const (
	resourcesMax    = 64  // tables and indexes told apart; the rest is one "other"
	cellsMax        = 128 // keys told apart within one second
	cellsShownMax   = 24  // keys of one column of the map
	pairsMax        = 256 // (key, caller), (key, owner), (key, item) of a resource
	textBytesMax    = 256 // a longer key or caller is cut
	hotShare        = 0.8 // of a ceiling, from which on a second is hot
	episodeGap      = 10  // seconds without heat that end an episode
	reasonsMax      = 16  // what the service knows
	operationsAlone = "other"
)

// Recorder folds events into bounded memory: what is heavy is kept, with the
// error that keeping little costs. It is safe for use by several goroutines.
type Recorder struct {
	options Options
	schemas *schemas

	mu        sync.Mutex
	resources map[Resource]*resourceStat
	order     []*resourceStat
	second    int64 // being filled, Unix seconds
	cells     *topK[cellKey, cell]
	heatmap   heatmap
	first     time.Time
	last      time.Time
	seconds   int // that saw an event
	requests  int
	failed    int
}

type cellKey struct {
	resource *resourceStat
	key      string
}

// cell is the use of one key in one second.
type cell struct {
	read, write float64
	throttled   int
	reason      string
	caller      string  // of most of it, when one made more than half
	lead        float64 // of that caller over all others
}

// vote keeps the caller that a majority of the load comes from (Boyer and Moore's
// majority vote, by weight).
func (c *cell) vote(caller string, weight float64) {
	switch {
	case caller == c.caller:
		c.lead += weight
	case c.lead < weight:
		c.caller, c.lead = caller, weight-c.lead
	default:
		c.lead -= weight
	}
}

// NewRecorder makes an empty recorder.
func NewRecorder(o Options) *Recorder {
	o = o.withDefaults()
	return &Recorder{
		options:   o,
		schemas:   newSchemas(o.Tables),
		resources: map[Resource]*resourceStat{},
		cells:     newTopK[cellKey, cell](cellsMax),
		heatmap:   heatmap{columnsMax: o.Columns, whole: o.Span, step: 1},
	}
}

// Observe counts one event. Events come in about the order of their time; one
// that is late counts for the second that is being filled.
func (r *Recorder) Observe(e Event) {
	e = r.clean(e)
	if r.options.Trace != nil {
		r.options.Trace.Write(e)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(e.Time)
	if e.Primary {
		r.requests++
	}
	if e.Failed {
		r.failed++
	}
	weight := load(e.Read, e.Write) + load(refusedUnits(e))
	s := r.resource(Resource{e.Table, e.Index})
	s.observe(e, weight)
	c := r.cells.add(cellKey{s, e.Key}, weight)
	c.value.read += e.Read
	c.value.write += e.Write
	c.value.throttled += e.Throttled
	if e.Reason != "" {
		c.value.reason = e.Reason
	}
	c.value.vote(e.Caller, weight)
}

// refusedUnits counts a refused attempt as one unit, the least that it can have
// asked for: what it would have cost is not known.
func refusedUnits(e Event) (read, write float64) {
	if isWrite(e.Operation) {
		return 0, float64(e.Throttled)
	}
	return float64(e.Throttled), 0
}

func isWrite(operation string) bool {
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
		return true
	}
	return false
}

func (r *Recorder) clean(e Event) Event {
	if e.Owner == "" {
		e.Owner = OwnerOf(e.Sort, r.options.Separator)
	}
	e.order = e.Sort
	e.Key, e.Sort, e.Owner = r.hide(e.Key), r.hide(e.Sort), r.hide(e.Owner)
	e.Caller = cut(e.Caller)
	return e
}

// hide is what is kept of a key value. Its order is lost; what rises is judged
// by the event's order, which never leaves the recorder.
func (r *Recorder) hide(text string) string {
	if text == "" || !r.options.HashKeys {
		return cut(text)
	}
	sum := sha256.Sum256([]byte(r.options.Salt + "\x00" + text))
	return hex.EncodeToString(sum[:6])
}

func cut(text string) string {
	if len(text) > textBytesMax {
		return text[:textBytesMax]
	}
	return text
}

func (r *Recorder) resource(id Resource) *resourceStat {
	if s := r.resources[id]; s != nil {
		return s
	}
	if len(r.resources) >= resourcesMax {
		id = Resource{Table: operationsAlone}
		if s := r.resources[id]; s != nil {
			return s
		}
	}
	s := newResourceStat(id, r.options.Keys)
	r.resources[id] = s
	r.order = append(r.order, s)
	return s
}

// advance closes the second that was being filled when t is in a later one.
func (r *Recorder) advance(t time.Time) {
	if r.first.IsZero() {
		r.first, r.second = t, t.Unix()
	}
	if t.After(r.last) {
		r.last = t
	}
	if second := t.Unix(); second > r.second {
		r.close()
		r.second = second
	}
}

// Flush ends the second that is being filled, when no more events will come.
func (r *Recorder) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close()
}

func (r *Recorder) close() {
	if len(r.cells.heap) == 0 {
		return
	}
	r.seconds++
	for _, c := range r.cells.heap {
		c.key.resource.closeKey(c.key.key, r.second, c.value)
	}
	for _, s := range r.order {
		s.closeSecond(r.second)
	}
	r.heatmap.add(r.second, r.cells.heaviest(cellsShownMax))
	r.cells.reset()
}

// Reset forgets everything seen.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := NewRecorder(r.options)
	r.resources, r.order, r.cells, r.heatmap = fresh.resources, nil, fresh.cells, fresh.heatmap
	r.first, r.last, r.second, r.seconds, r.requests, r.failed = time.Time{}, time.Time{}, 0, 0, 0, 0
}
