package proof

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/hotsplit/hotsplit/shard"
)

// Rule is one rule of protocol 1. A model without it must lose a row, or it is
// no rule.
type Rule string

// The rules that the bounded model can do without, one at a time.
const (
	RuleMoving      Rule = "moving"       // readers read the moving set from the base table
	RuleRecheck     Rule = "recheck"      // a read that outlived the bound under an old view is done again
	RuleWait        Rule = "wait"         // after a phase change the bound passes before anything else
	RuleMovingWait  Rule = "moving-wait"  // after publishing a set the bound passes before a row moves
	RuleSettle      Rule = "settle"       // the set is cleared once the index shows the rows
	RuleGate        Rule = "gate"         // a layout is left only when it is empty, in table and index
	RuleWriterCheck Rule = "writer-check" // a writer looks at the bound again before it acknowledges
	RuleFence       Rule = "fence"        // a runner that was replaced cannot land a move
	RuleInherit     Rule = "inherit"      // who takes over treats the set that it finds as just published
)

// Rules lists them all.
func Rules() []Rule {
	return []Rule{RuleMoving, RuleRecheck, RuleWait, RuleMovingWait, RuleSettle, RuleGate, RuleWriterCheck, RuleFence, RuleInherit}
}

// modelRows is how many rows the model has. The last one is created by the
// writing member, once; the others are there from the start.
const modelRows = 3

const (
	created  = 1 << (modelRows - 1)
	existing = created - 1
)

// The two layouts and the moving set, as a reader's step and a row's key.
const (
	none = iota
	layoutA
	layoutB
	movingSet
)

// The runner's program counter.
const (
	idle = iota
	published
	canMove
	moved
)

// The writer's: it took a stamp, its row landed, it told its caller.
const (
	unborn = iota
	stamped
	landed
	acknowledged
)

// zombie is a runner that was replaced while it was frozen.
const (
	firstRunner = iota // nobody took over yet
	zombieArmed        // it holds a move that it has not sent
	zombieGone
)

// state is everything that the model knows. Rows are bits; members are one that
// reads and one that writes, each as slow as it likes, which is what a freeze is.
type state struct {
	phase, pc      uint8
	waited         bool // the bound has passed since the phase changed
	moving         uint8
	keys           [modelRows]uint8
	shown          [3]uint8 // rows that the index shows under a layout
	deletes, puts  [3]uint8 // halves of key changes that the index has still to show
	due            uint8    // rows that a read beginning now must return
	reading        bool
	readPhase      uint8
	readMoving     uint8
	readStep       uint8
	seen, expected uint8
	writer         uint8
	writePhase     uint8
	writeStale     bool
	zombie         uint8
	zombieRow      uint8
	zombieTo       uint8
}

// violation is a run that lost a row.
type violation struct {
	Missed []int
	Run    []string // the shortest one, a step a line
}

func (v *violation) String() string {
	return fmt.Sprintf("a reader missed rows %v:\n  %s", v.Missed, strings.Join(v.Run, "\n  "))
}

// model explores every interleaving of a move and its way back.
type model struct {
	without  Rule
	phases   []shard.Phase
	routings []shard.Routing
	a, b     shard.Layout
	next     func(label func() string, s state)
}

func newModel(without Rule) *model {
	m := &model{without: without, phases: shard.Phases(),
		a: shard.Layout{Index: "i", PartitionKey: "p", Base: "K"}, b: shard.Layout{Index: "i", PartitionKey: "p", Base: "K", Count: 16}}
	for _, p := range m.phases {
		m.routings = append(m.routings, shard.RoutingFor(p, m.a, m.b, 0))
	}
	return m
}

func (m *model) layout(l shard.Layout) uint8 {
	if l == m.a {
		return layoutA
	}
	return layoutB
}

// plan is what a reader asks in a phase, in order.
func (m *model) plan(phase uint8) []uint8 {
	var steps []uint8
	for _, l := range m.routings[phase].Read {
		steps = append(steps, m.layout(l))
	}
	if m.routings[phase].Moving && m.without != RuleMoving {
		steps = append(steps, movingSet)
	}
	return steps
}

func (m *model) reads(phase, layout uint8) bool { return slices.Contains(m.plan(phase), layout) }

func (m *model) stampOf(phase uint8) uint8 { return m.layout(m.routings[phase].Write) }

// way is the direction in which rows move in a phase, 0 where nobody moves them.
func (m *model) way(phase uint8) (from, to uint8) {
	switch m.phases[phase] {
	case shard.Backfill, shard.Verified:
		return layoutA, layoutB
	case shard.Reverting:
		return layoutB, layoutA
	default:
		return none, none
	}
}

// Explore visits every state that can be reached, at most limit of them. It
// gives the phases reached and the shortest run that loses a row, if there is one.
func (m *model) Explore(limit int) (states int, reached map[shard.Phase]bool, found *violation) {
	start := state{waited: true, due: existing, zombieRow: 0}
	for row := range modelRows - 1 {
		start.keys[row] = layoutA
	}
	start.shown[layoutA] = existing
	queue, parents := []state{start}, []int32{-1}
	known := map[state]struct{}{start: {}}
	reached = map[shard.Phase]bool{}
	for at := 0; at < len(queue); at++ {
		s := queue[at]
		reached[m.phases[s.phase]] = true
		if missed := m.missed(s); missed != 0 {
			return len(queue), reached, &violation{Missed: rowsOf(missed), Run: m.run(queue, parents, at)}
		}
		m.next = func(_ func() string, t state) {
			if _, ok := known[t]; ok || len(queue) >= limit {
				return
			}
			known[t] = struct{}{}
			queue, parents = append(queue, t), append(parents, int32(at))
		}
		m.step(s)
	}
	return len(queue), reached, nil
}

// missed are the rows that a read which has asked everything did not return.
func (m *model) missed(s state) uint8 {
	if !s.reading || int(s.readStep) < len(m.plan(s.readPhase)) {
		return 0
	}
	return s.expected &^ s.seen
}

func rowsOf(set uint8) []int {
	var rows []int
	for ; set != 0; set &= set - 1 {
		rows = append(rows, bits.TrailingZeros8(set))
	}
	return rows
}

// run spells the steps to a state, by taking each of them again.
func (m *model) run(queue []state, parents []int32, at int) []string {
	var lines []string
	for ; parents[at] >= 0; at = int(parents[at]) {
		line := ""
		m.next = func(label func() string, t state) {
			if t == queue[at] && line == "" {
				line = label()
			}
		}
		m.step(queue[parents[at]])
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return lines
}

func (m *model) emit(s state, format string, args ...any) {
	if s.writer == acknowledged && s.settled(created) {
		s.due |= created
	}
	m.next(func() string { return fmt.Sprintf(format, args...) }, s)
}

// settled says that the index shows the row under its key and nothing else is
// on the way.
func (s state) settled(row uint8) bool {
	key := s.keys[bits.TrailingZeros8(row)]
	return key != none && !s.pending(row) && s.shown[key]&row != 0
}

func (s state) pending(row uint8) bool {
	return (s.deletes[layoutA]|s.deletes[layoutB]|s.puts[layoutA]|s.puts[layoutB])&row != 0
}

// step emits every state that can follow s.
func (m *model) step(s state) {
	m.stepIndex(s)
	m.stepReader(s)
	m.stepPhase(s)
	m.stepRunner(s)
	m.stepTakeOver(s)
	m.stepWriter(s)
}

// stepIndex shows one half of a key change, in any order.
func (m *model) stepIndex(s state) {
	for _, layout := range []uint8{layoutA, layoutB} {
		for rows := s.deletes[layout]; rows != 0; rows &= rows - 1 {
			t, row := s, rows&-rows
			t.deletes[layout] &^= row
			t.shown[layout] &^= row
			m.emit(t, "the index shows the delete of row %d under %s", bits.TrailingZeros8(row), name(layout))
		}
		for rows := s.puts[layout]; rows != 0; rows &= rows - 1 {
			t, row := s, rows&-rows
			t.puts[layout] &^= row
			t.shown[layout] |= row
			m.emit(t, "the index shows the put of row %d under %s", bits.TrailingZeros8(row), name(layout))
		}
	}
}

func name(layout uint8) string { return [...]string{"nothing", "A", "B", "the moving set"}[layout] }

func (m *model) stepReader(s state) {
	if !s.reading {
		t := s
		t.reading, t.readPhase, t.readMoving, t.readStep, t.seen, t.expected = true, s.phase, s.moving, 0, 0, s.due
		m.emit(t, "a read begins in phase %s", m.phases[s.phase])
		return
	}
	plan := m.plan(s.readPhase)
	if int(s.readStep) == len(plan) {
		m.emit(s.withoutRead(), "the read ends")
		return
	}
	t, asks := s, plan[s.readStep]
	t.readStep++
	if asks == movingSet {
		for _, row := range rowsOf(s.readMoving) {
			if s.keys[row] != none {
				t.seen |= 1 << row
			}
		}
	} else {
		t.seen |= s.shown[asks]
	}
	m.emit(t, "the read asks %s", name(asks))
}

func (s state) withoutRead() state {
	s.reading, s.readPhase, s.readMoving, s.readStep, s.seen, s.expected = false, 0, 0, 0, 0, 0
	return s
}

// boundPassed is what the staleness bound does to members: a read under an old
// view begins anew, a write under an old phase has to be looked at again.
func (m *model) boundPassed(s state) state {
	if s.reading && m.without != RuleRecheck && (s.readPhase != s.phase || s.readMoving != s.moving) {
		s = s.withoutRead()
	}
	if (s.writer == stamped || s.writer == landed) && s.writePhase != s.phase {
		s.writeStale = true
	}
	return s
}

// stepPhase changes the phase, where a gate lets it.
func (m *model) stepPhase(s state) {
	if !s.waited {
		t := m.boundPassed(s)
		t.waited = true
		m.emit(t, "the bound passes after the phase change")
		return
	}
	if s.pc != idle || s.moving != 0 {
		return
	}
	from := m.phases[s.phase]
	for _, to := range from.Next() {
		if !m.gate(s, from, to) {
			continue
		}
		t := s
		t.phase, t.waited = uint8(slices.Index(m.phases, to)), m.without == RuleWait
		m.emit(t, "phase %s -> %s", from, to)
	}
}

// leaves says which layout must be empty, in table and index, for a change of
// phase: what the phase after it no longer reads, or no longer moves.
func leaves(from, to shard.Phase) uint8 {
	switch {
	case from == shard.Backfill && to == shard.Verified, from == shard.Verified && to == shard.Complete:
		return layoutA
	case from == shard.Reverting && to == shard.DualRead, from == shard.DualRead && to == shard.Planned:
		return layoutB
	default:
		return none
	}
}

func (m *model) gate(s state, from, to shard.Phase) bool {
	left := leaves(from, to)
	if left == none || m.without == RuleGate {
		return true
	}
	for row, key := range s.keys {
		if key == left || s.pending(1<<row) {
			return false
		}
	}
	return true
}

// stepRunner publishes a row, waits, moves it, and clears it once it settled.
func (m *model) stepRunner(s state) {
	from, to := m.way(s.phase)
	if from == none || !s.waited {
		return
	}
	switch s.pc {
	case idle:
		for row, key := range s.keys {
			if key == from && !s.pending(1<<row) {
				t := s
				t.moving, t.pc = 1<<row, published
				m.emit(t, "the runner publishes row %d", row)
			}
		}
	case published:
		t := s
		if m.without != RuleMovingWait {
			t = m.boundPassed(s)
		}
		t.pc = canMove
		m.emit(t, "the bound passes after publishing")
	case canMove:
		row := bits.TrailingZeros8(s.moving)
		t := s
		t.pc = moved
		if s.keys[row] == from {
			t.move(row, to)
		}
		m.emit(t, "the runner moves row %d to %s", row, name(to))
	case moved:
		if m.without == RuleSettle || !s.pending(s.moving) {
			t := s
			t.moving, t.pc = 0, idle
			m.emit(t, "the runner clears the moving set")
		}
	}
}

// move changes a row's key: a delete and a put that the index shows later.
func (s *state) move(row int, to uint8) {
	s.deletes[s.keys[row]] |= 1 << row
	s.keys[row] = to
	s.puts[to] |= 1 << row
}

// stepTakeOver replaces the runner once, at any point of its work: it was killed,
// or it is frozen and thaws later with a move in hand.
func (m *model) stepTakeOver(s state) {
	if s.zombie == firstRunner && s.pc != idle {
		t := s
		t.zombie = zombieGone
		if _, to := m.way(s.phase); s.pc == canMove {
			t.zombie, t.zombieRow, t.zombieTo = zombieArmed, uint8(bits.TrailingZeros8(s.moving)), to
		}
		t.pc = published
		if m.without == RuleInherit {
			t.moving, t.pc = 0, idle
		}
		m.emit(t, "another runner takes over")
	}
	if s.zombie != zombieArmed {
		return
	}
	t := s
	row := int(s.zombieRow)
	from := uint8(layoutA + layoutB - s.zombieTo)
	t.zombie, t.zombieRow, t.zombieTo = zombieGone, 0, 0
	if m.without == RuleFence && s.keys[row] == from {
		t.move(row, s.zombieTo)
		m.emit(t, "the replaced runner thaws and moves row %d", row)
		return
	}
	m.emit(t, "the replaced runner thaws and is refused")
}

// stepWriter creates the last row, once.
func (m *model) stepWriter(s state) {
	t := s
	row := modelRows - 1
	switch s.writer {
	case unborn:
		t.writer, t.writePhase = stamped, s.phase
		m.emit(t, "a writer takes its stamp in phase %s", m.phases[s.phase])
	case stamped:
		key := m.stampOf(s.writePhase)
		t.keys[row], t.writer = key, landed
		t.puts[key] |= created
		m.emit(t, "its row %d lands under %s", row, name(key))
	case landed:
		m.stepAcknowledge(s)
	}
}

func (m *model) stepAcknowledge(s state) {
	t, row := s, modelRows-1
	want := m.stampOf(s.phase)
	switch {
	case !s.writeStale || m.without == RuleWriterCheck,
		s.keys[row] == want && m.reads(s.phase, want):
		t.writer, t.writePhase, t.writeStale = acknowledged, 0, false
		m.emit(t, "the writer acknowledges row %d", row)
	case s.keys[row] != want && !s.pending(created):
		t.move(row, want)
		t.writePhase, t.writeStale = s.phase, false
		m.emit(t, "the writer repairs row %d to %s", row, name(want))
	}
}
