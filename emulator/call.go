package emulator

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// call is one request under way.
type call struct {
	db    *DB
	ctx   context.Context
	now   time.Time
	entry LogEntry
	// behind is how much later than the lag an index shows the write, because its
	// partition works off a backlog.
	behind time.Duration
	struck
}

var calls = sync.Pool{New: func() any { return new(call) }}

// begin starts a request. The caller passes its result to end.
func (db *DB) begin(ctx context.Context, operation string) *call {
	c := calls.Get().(*call)
	units := c.entry.Units[:0]
	*c = call{db: db, ctx: ctx, now: db.Now()}
	c.entry = LogEntry{Time: c.now, Caller: callerOf(ctx), Operation: operation, Units: units}
	return c
}

// end writes the log entry of a request and lets a fault take its answer away.
func (c *call) end(err error) error {
	if err == nil && c.drop {
		err = ErrDropped
	}
	c.entry.Outcome, c.entry.Reasons = outcome(err)
	c.db.countError(err)
	c.db.log.add(&c.entry)
	c.ctx = nil
	calls.Put(c)
	return err
}

// countError counts an answer as CloudWatch does: throttles and failed conditions
// are no errors of the user.
func (db *DB) countError(err error) {
	if err == nil {
		return
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok || len(e.Reasons) > 0 || e.Code == CodeConditionalCheck:
	case e.Status >= http.StatusInternalServerError:
		db.systemErrors.Add(1)
	default:
		db.userErrors.Add(1)
	}
}

// outcome is how the log tells what came of a request.
func outcome(err error) (string, []ThrottlingReason) {
	if err == nil {
		return "ok", nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code, e.Reasons
	}
	if errors.Is(err, ErrDropped) {
		return "dropped", nil
	}
	return err.Error(), nil
}

// answer ends a request that has an output.
func answer[T any](c *call, out *T, err error) (*T, error) {
	if err = c.end(err); err != nil {
		return nil, err
	}
	return out, nil
}
