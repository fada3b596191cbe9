package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// look is what a member saw when it last looked at the record. It counts from
// the moment at which the look began: what changed after that is not in it.
type look struct {
	record Record
	found  bool // false: there is no record yet, and nothing moves
	moving []fanout.MovingRow
	at     time.Time
	mark   int64 // raised whenever a look differs from the one before
}

// age is how old the look is. The wall clock of this host is asked beside the
// monotonic one, which stands still while a machine is suspended.
func (l look) age() time.Duration {
	now := time.Now()
	return max(now.Sub(l.at), now.Round(0).Sub(l.at.Round(0)))
}

func (l look) fresh() bool { return l.age() <= l.stale() }

func (l look) stale() time.Duration {
	if !l.found {
		return Bounds{}.withDefaults().Stale
	}
	return l.record.stale()
}

func (l look) poll() time.Duration {
	if !l.found {
		return Bounds{}.withDefaults().Poll
	}
	return l.record.poll()
}

func (l look) routing(s Spec) shard.Routing {
	if !l.found {
		return shard.RoutingFor(shard.Planned, s.From, s.To, 0)
	}
	return l.record.Routing()
}

// same says whether two looks send every read and write the same way.
func (l look) same(m look) bool {
	return l.found == m.found && l.record.Generation == m.record.Generation &&
		l.record.Moving.Version == m.record.Moving.Version
}

// tornReadsMax bounds how often the moving set is fetched again because it did
// not fit the record; each time the record is read again too.
const tornReadsMax = 5

// takeLook reads the record and, where the record says that it changed, the
// moving set.
func takeLook(ctx context.Context, client ReadAPI, s shelf, last look) (look, error) {
	for try := 0; ; try++ {
		next, err := takeLookOnce(ctx, client, s, last)
		if !errors.Is(err, errSetBehind) || try == tornReadsMax {
			return next, err
		}
		if err := pauseAfter(ctx, try+1); err != nil {
			return next, err
		}
	}
}

func takeLookOnce(ctx context.Context, client ReadAPI, s shelf, last look) (look, error) {
	next := look{at: time.Now(), mark: last.mark}
	record, err := loadRecord(ctx, client, s)
	switch {
	case errors.Is(err, ErrNoRecord) && !last.found:
	case err != nil:
		return last, err
	case record.Function != shard.Function:
		return last, fmt.Errorf("%w: the record's shard function is %q", ErrMismatch, record.Function)
	default:
		next.record, next.found = record, true
	}
	if last.mark > 0 && next.same(last) {
		next.moving = last.moving
		return next, nil
	}
	next.mark++
	next.moving, err = s.readMoving(ctx, client, next.record.Moving)
	if err != nil {
		return last, err
	}
	return next, nil
}
