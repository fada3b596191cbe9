package emulator

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// TransactWriteItems carries out up to 100 writes, all or none.
func (db *DB) TransactWriteItems(ctx context.Context, in *TransactWriteItemsInput) (*TransactWriteItemsOutput, error) {
	c := db.begin(ctx, "TransactWriteItems")
	out, err := c.transactWrite(in)
	return answer(c, out, err)
}

func (c *call) transactWrite(in *TransactWriteItemsInput) (*TransactWriteItemsOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	tx, err := c.prepare(in)
	if err != nil {
		return nil, err
	}
	if err := tx.suffer(c); err != nil {
		return nil, err
	}
	if in.ClientRequestToken == nil {
		return tx.run(c, in)
	}
	use := c.db.tokens.claim(*in.ClientRequestToken, c.now)
	if use == nil {
		return nil, newError(CodeTransactionInProgress, "The transaction with the given request token is already in progress.")
	}
	defer use.mu.Unlock()
	print := in.fingerprint()
	if use.done {
		if use.print != print {
			return nil, newError(CodeIdempotentMismatch, "Request parameters do not match those of a previous request with the same client token")
		}
		return tx.replay(c, in)
	}
	out, err := tx.run(c, in)
	if err == nil {
		use.done, use.print = true, print
	}
	return out, err
}

// fingerprint tells transactions apart.
func (in *TransactWriteItemsInput) fingerprint() [sha256.Size]byte {
	var b []byte
	for _, item := range in.TransactItems {
		v, a := item.action()
		b = fmt.Appendf(b, "%d %q %q %q ", v, deref(a.TableName), deref(a.UpdateExpression), deref(a.ConditionExpression))
		b = append(attr.AppendJSON(attr.AppendJSON(b, a.Item), a.Key), a.ReturnValuesOnConditionCheckFailure...)
		for _, name := range sortedKeys(a.Expressions.Names) {
			b = fmt.Appendf(b, "%q=%q ", name, a.Expressions.Names[name])
		}
		for _, name := range sortedKeys(a.Expressions.Values) {
			b = attr.AppendValueJSON(fmt.Appendf(b, "%q=", name), a.Expressions.Values[name])
		}
	}
	return sha256.Sum256(b)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// action is the one action of an item.
func (i *TransactWriteItem) action() (verb, *TransactAction) {
	switch {
	case i.Put != nil:
		return verbPut, i.Put
	case i.Update != nil:
		return verbUpdate, i.Update
	case i.Delete != nil:
		return verbDelete, i.Delete
	default:
		return verbCheck, i.ConditionCheck
	}
}

func (i *TransactWriteItem) actions() int {
	n := 0
	for _, a := range []*TransactAction{i.Put, i.Update, i.Delete, i.ConditionCheck} {
		if a != nil {
			n++
		}
	}
	return n
}

// transaction is a checked transaction.
type transaction struct {
	mutations []*mutation
	named     []string // tables as the request spelled them
	tables    []*table // concerned, by name: the order in which they are locked
}

// prepare checks everything that can be known before the tables are locked.
func (c *call) prepare(in *TransactWriteItemsInput) (*transaction, error) {
	bound, err := in.bind(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	tx := &transaction{}
	reasons := newReasons(len(in.TransactItems))
	bytes := 0
	for i := range in.TransactItems {
		v, a := in.TransactItems[i].action()
		m, err := c.newAction(v, a, bound[i])
		if err := reasons.noteFirst(i, err); err != nil {
			return nil, err
		}
		tx.mutations = append(tx.mutations, m)
		tx.named = append(tx.named, *a.TableName)
		if bytes += a.Item.Size(); bytes > transactBytesMax {
			return nil, invalid("Transaction payload size cannot exceed 4194304 bytes")
		}
	}
	if err := reasons.err(); err != nil {
		return nil, err
	}
	if err := tx.checkDistinct(); err != nil {
		return nil, err
	}
	for _, m := range tx.mutations {
		tx.concern(m.t)
	}
	return tx, nil
}

func (tx *transaction) checkDistinct() error {
	type itemKey struct {
		t   *table
		key string
	}
	seen := make(map[itemKey]bool, len(tx.mutations))
	for _, m := range tx.mutations {
		k := itemKey{m.t, m.treeKey}
		if seen[k] {
			return invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[k] = true
	}
	return nil
}

func (tx *transaction) concern(t *table) {
	at, found := slices.BinarySearchFunc(tx.tables, t, func(a, b *table) int { return strings.Compare(a.name, b.name) })
	if !found {
		tx.tables = slices.Insert(tx.tables, at, t)
	}
}

// boundAction are the expressions of an action.
type boundAction struct {
	update    *expr.Update
	condition *expr.Condition
}

// bind checks what takes no table to be checked, one action after the other.
func (in *TransactWriteItemsInput) bind(exprs *expr.Cache) ([]boundAction, error) {
	bound := make([]boundAction, len(in.TransactItems))
	for i := range in.TransactItems {
		_, a := in.TransactItems[i].action()
		b, err := a.bind(exprs)
		if err != nil {
			return nil, err
		}
		bound[i] = b
	}
	return bound, nil
}

// bind checks values and expressions. A key that nests too deep comes last.
func (a *TransactAction) bind(exprs *expr.Cache) (b boundAction, err error) {
	values := first(a.Item.Err(), a.Key.Err())
	if values != nil && (a.Key.Err() == nil || !isDeep(values)) {
		return b, olderValueError(values)
	}
	b.update, b.condition, err = a.Expressions.bindWrite(exprs, a.UpdateExpression, a.ConditionExpression, true)
	return b, first(err, olderValueError(values))
}

func (c *call) newAction(v verb, a *TransactAction, bound boundAction) (*mutation, error) {
	t, err := c.table(a.TableName)
	if err != nil {
		return nil, err
	}
	m, err := t.newMutation(v, a, bound.update)
	if err != nil {
		return m, err
	}
	if err := early(checkItemSize(a.Item.Size())); err != nil {
		return m, err
	}
	m.condition, m.showOld = bound.condition, a.ReturnValuesOnConditionCheckFailure == "ALL_OLD"
	return m, t.checkConditionPaths(bound.condition)
}

func (tx *transaction) suffer(c *call) error {
	for _, t := range tx.tables {
		err := c.suffer(t, "", func() []string {
			var keys []string
			for _, m := range tx.mutations {
				if m.t == t {
					keys = append(keys, m.faultKeys()...)
				}
			}
			return keys
		})
		if err != nil {
			return tx.scripted(err)
		}
	}
	return nil
}

// scripted turns a scripted throttle into what a transaction shows of one.
func (tx *transaction) scripted(err error) error {
	e, ok := err.(*Error)
	if !ok || len(e.Reasons) == 0 {
		return err
	}
	reasons := newReasons(len(tx.mutations))
	reasons.throttled(0, e)
	return reasons.err()
}

func (tx *transaction) lock() (unlock func()) {
	for _, t := range tx.tables {
		t.mu.Lock()
	}
	return func() {
		for _, t := range tx.tables {
			t.mu.Unlock()
		}
	}
}

func (tx *transaction) run(c *call, in *TransactWriteItemsInput) (*TransactWriteItemsOutput, error) {
	unlock := tx.lock()
	defer unlock()
	effects := make([]effect, len(tx.mutations))
	reasons := newReasons(len(tx.mutations))
	var failed []cost
	for i, m := range tx.mutations {
		e, err := m.decide()
		effects[i] = e
		if err := reasons.note(i, err); err != nil {
			return nil, err
		}
		failed = append(failed, m.base(m.failedUnits(e.old)*capacity.TransactionFactor))
	}
	if err := reasons.err(); err != nil {
		// What a cancelled transaction prepared is paid for, if there are units.
		_, _ = tx.admit(c, failed)
		return nil, err
	}
	costs, bounds := tx.costs(c, effects)
	if refused, err := tx.admit(c, costs); err != nil {
		reasons.throttled(refused.item, err.(*Error))
		c.entry.Reasons = err.(*Error).Reasons
		return nil, reasons.err()
	}
	for i := range effects {
		effects[i].commit(c)
	}
	return tx.output(in, costs, bounds), nil
}

// costs lists what all effects take; bounds[i] is where those of effect i end.
func (tx *transaction) costs(c *call, effects []effect) (costs []cost, bounds []int) {
	indexFactor := 1.0
	if c.db.opts.TransactionIndexUnits {
		indexFactor = capacity.TransactionFactor
	}
	for i := range effects {
		start := len(costs)
		costs = effects[i].costs(costs, capacity.TransactionFactor, indexFactor)
		for j := start; j < len(costs); j++ {
			costs[j].item = i
		}
		bounds = append(bounds, len(costs))
	}
	return costs, bounds
}

// admit is admit over several tables.
func (tx *transaction) admit(c *call, costs []cost) (*cost, error) {
	for _, t := range tx.tables {
		t.meter.Lock()
		defer t.meter.Unlock()
	}
	return c.admitLocked(costs)
}

func (tx *transaction) output(in *TransactWriteItemsInput, costs []cost, bounds []int) *TransactWriteItemsOutput {
	out := &TransactWriteItemsOutput{}
	bills := map[string]*bill{}
	start := 0
	for i, end := range bounds {
		name := tx.named[i]
		if bills[name] == nil {
			bills[name] = &bill{named: name, level: in.ReturnConsumedCapacity}
		}
		bills[name].add(costs[start:end])
		start = end
	}
	for _, name := range sortedKeys(bills) {
		if cc := bills[name].consumed(true); cc != nil {
			out.ConsumedCapacity = append(out.ConsumedCapacity, *cc)
		}
	}
	return out
}

// replay answers a transaction that was already carried out: it reads what is
// there now, which costs read units.
func (tx *transaction) replay(c *call, in *TransactWriteItemsInput) (*TransactWriteItemsOutput, error) {
	var costs []cost
	var bounds []int
	for i, m := range tx.mutations {
		l := lookup{t: m.t, key: m.key, treeKey: m.treeKey, level: capacity.Transactional}
		k := l.cost(l.find())
		k.item = i
		costs = append(costs, k)
		bounds = append(bounds, len(costs))
	}
	if refused, err := tx.admit(c, costs); err != nil {
		reasons := newReasons(len(tx.mutations))
		reasons.throttled(refused.item, err.(*Error))
		return nil, reasons.err()
	}
	return tx.output(in, costs, bounds), nil
}
