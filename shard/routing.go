package shard

import "slices"

// Routing says which layouts are read and which one new rows are stamped with.
// It is plain data: whoever holds it needs nobody else to read and write.
type Routing struct {
	Generation int64    `json:"generation"` // of the record it came from; 0 for a static routing
	Read       []Layout `json:"read"`       // one or two; the layout that is left stands first
	Write      Layout   `json:"write"`      // stamps new rows
	To         Layout   `json:"to"`         // where two copies of a row meet, the one in To wins
	Moving     bool     `json:"moving"`     // rows may be on the way: readers ask the moving set too
}

// Key is the partition key that a new row of owner is stamped with.
func (r Routing) Key(owner string) string { return r.Write.Key(owner) }

// Equal says that r and s send every read and write the same way.
func (r Routing) Equal(s Routing) bool {
	return r.Generation == s.Generation && r.Write == s.Write && r.To == s.To &&
		r.Moving == s.Moving && slices.Equal(r.Read, s.Read)
}

// Static is the routing of a program that knows one layout and no move.
func Static(l Layout) Routing { return Routing{Read: []Layout{l}, Write: l, To: l} }

// StaticDual is the routing of a program that reads two layouts and takes part
// in no move: it asks from before to, and stamps new rows with write.
func StaticDual(from, to, write Layout) Routing {
	return Routing{Read: []Layout{from, to}, Write: write, To: to}
}

// RoutingFor is what a phase of the move from a to b means to readers and
// writers. A phase that this release does not know reads both layouts and the
// moving set, which is right in every phase that can exist, and stamps a.
func RoutingFor(phase Phase, a, b Layout, generation int64) Routing {
	r := Routing{Generation: generation, Read: []Layout{a, b}, Write: a, To: b, Moving: true}
	switch phase {
	case Planned:
		r.Read, r.To, r.Moving = []Layout{a}, a, false
	case DualRead:
		r.Moving = false
	case WriteNew:
		r.Write, r.Moving = b, false
	case Backfill, Verified:
		r.Write = b
	case Complete:
		r.Read, r.Write, r.Moving = []Layout{b}, b, false
	case Reverting:
		r.Read, r.To = []Layout{b, a}, a
	}
	return r
}
