package emulator

import (
	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// verb is what a mutation does to an item.
type verb uint8

const (
	verbPut verb = iota
	verbUpdate
	verbDelete
	verbCheck
)

// mutation is one checked write of one item: all that can be known before its
// table is locked.
type mutation struct {
	t         *table
	verb      verb
	key       attr.Item // the key attributes
	treeKey   string
	item      attr.Item // of a put
	condition *expr.Condition
	update    *expr.Update
	showOld   bool // a failed condition shows the item
}

// effect is a mutation carried out on the item that was there.
type effect struct {
	*mutation
	old, new attr.Item // no item: absent
	units    float64   // of the table alone
	changes  []change
}

// decide carries the mutation out on the item that is there. Nothing is stored.
func (m *mutation) decide() (effect, error) {
	e := effect{mutation: m}
	e.old, _ = m.t.rows.Get(m.treeKey)
	if m.condition != nil && !m.condition.Match(e.old) {
		return e, m.conditionFailed(e.old)
	}
	if err := m.renew(&e); err != nil {
		return e, err
	}
	e.units = capacity.WriteUnits(e.old.Size(), e.new.Size())
	if m.verb == verbCheck {
		return e, nil
	}
	for _, ix := range m.t.local {
		e.compare(ix)
	}
	for _, ix := range m.t.global {
		if ix.lifecycle.passing != "DELETING" {
			e.compare(ix)
		}
	}
	return e, nil
}

func (e *effect) compare(ix *index) {
	if c, touched := ix.changeOf(e.old, e.new); touched {
		e.changes = append(e.changes, c)
	}
}

// renew fills in the item as it will be.
func (m *mutation) renew(e *effect) error {
	switch m.verb {
	case verbPut:
		e.new = m.item
	case verbCheck:
		e.new = e.old
	case verbUpdate:
		return m.updated(e)
	}
	return nil
}

func (m *mutation) updated(e *effect) (err error) {
	absent := e.old.IsNil()
	switch {
	case m.update == nil && absent:
		e.new = m.key
		return nil
	case m.update == nil:
		e.new = e.old
		return nil
	case absent:
		e.new, err = m.update.Create(m.key)
	default:
		e.new, err = m.update.Apply(e.old)
	}
	if err != nil {
		return invalid(err.Error())
	}
	if e.new.Size() > itemBytesMax {
		return invalid(messageUpdateSize)
	}
	return m.t.checkUpdatedIndexKeys(e.new, m.update)
}

const messageUpdateSize = "Item size to update has exceeded the maximum allowed size"

func (m *mutation) conditionFailed(old attr.Item) *Error {
	e := newError(CodeConditionalCheck, "The conditional request failed")
	if m.showOld {
		e.Item = old
	}
	return e
}

// failedUnits is what a write costs whose condition failed.
func (m *mutation) failedUnits(old attr.Item) float64 {
	return capacity.ConditionFailedUnits(old.Size(), m.item.Size())
}

// base is the cost of the table's part of a mutation.
func (m *mutation) base(units float64) cost {
	return cost{
		space: m.t.space, treeKey: m.treeKey,
		key: m.t.schema.keyText(m.key), sort: m.t.schema.sortText(m.key),
		direction: capacity.Write, units: units,
	}
}

// costs appends what an effect takes from the table and its indexes.
func (e *effect) costs(dst []cost, factor, indexFactor float64) []cost {
	dst = append(dst, e.base(e.units*factor))
	for i := range e.changes {
		c := &e.changes[i]
		if c.cost.Removed > 0 {
			dst = append(dst, c.ix.cost(e.old, c.oldKey, c.cost.Removed*indexFactor))
		}
		if c.cost.Stored > 0 {
			dst = append(dst, c.ix.cost(e.new, c.newKey, c.cost.Stored*indexFactor))
		}
	}
	return dst
}

func (ix *index) cost(item attr.Item, treeKey string, units float64) cost {
	return cost{
		space: ix.space, ix: ix, treeKey: treeKey,
		key: ix.schema.keyText(item), sort: ix.schema.sortText(item),
		direction: capacity.Write, units: units,
	}
}

// commit stores an effect: the table and its local indexes at once, the global
// ones when their lag is over.
func (e *effect) commit(c *call) {
	t := e.t
	switch {
	case e.verb == verbCheck:
		return
	case e.new.IsNil():
		t.remove(e.treeKey)
	default:
		t.put(e.treeKey, e.new)
	}
	for _, ch := range e.changes {
		if ch.ix.local {
			ch.apply()
		} else {
			t.moves.enqueue(ch, c.now.Add(c.behind), c.behind > 0)
		}
	}
	t.moves.drain(c.now)
}

// apply makes both halves of a change happen now.
func (c change) apply() {
	if c.oldKey != "" && c.oldKey != c.newKey {
		c.ix.remove(c.oldKey)
	}
	if c.newKey != "" {
		c.ix.put(c.newKey, c.new)
	}
}

// write carries one mutation out: the whole of PutItem, UpdateItem and
// DeleteItem behind their checks.
func (c *call) write(m *mutation, b *bill) (effect, error) {
	if err := c.suffer(m.t, "", m.faultKeys); err != nil {
		return effect{}, err
	}
	m.t.mu.Lock()
	defer m.t.mu.Unlock()
	e, err := m.decide()
	if err != nil {
		return e, c.fail(m, e, err)
	}
	var buf [6]cost
	costs := e.costs(buf[:0], 1, 1)
	if err := c.admit(m.t, costs); err != nil {
		return e, c.throttledRequest(m.t, err)
	}
	b.add(costs)
	e.commit(c)
	return e, nil
}

// fail charges a failed condition. If there are no units for it, the throttle is
// what the caller gets to see.
func (c *call) fail(m *mutation, e effect, err error) error {
	if codeOf(err) != CodeConditionalCheck {
		return err
	}
	if throttle := c.admit(m.t, []cost{m.base(m.failedUnits(e.old))}); throttle != nil {
		return c.throttledRequest(m.t, throttle)
	}
	m.t.meter.Lock()
	defer m.t.meter.Unlock()
	m.t.space.counters.failed++
	return err
}

func codeOf(err error) string {
	if e, ok := err.(*Error); ok {
		return e.Code
	}
	return ""
}

// faultKeys are the partition keys that a mutation touches: of the table, and of
// every index before and after a put.
func (m *mutation) faultKeys() []string {
	m.t.mu.RLock()
	defer m.t.mu.RUnlock()
	keys := []string{m.t.schema.keyText(m.key)}
	old, _ := m.t.rows.Get(m.treeKey)
	for _, ix := range m.t.global {
		for _, item := range []attr.Item{old, m.item} {
			if ix.schema.holds(item) {
				keys = append(keys, ix.schema.keyText(item))
			}
		}
	}
	return keys
}
