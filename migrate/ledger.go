package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Ledger is the durable record of a move and its items: what there is to read
// and what an operator may change without holding the lease.
type Ledger struct {
	client Client
	spec   Spec
	shelf  shelf
}

// OpenLedger is the ledger of the move that spec names. It sends no request.
func OpenLedger(client Client, spec Spec) (*Ledger, error) {
	resolved, err := spec.Resolve()
	if err != nil {
		return nil, err
	}
	return &Ledger{client: client, spec: resolved, shelf: resolved.shelf()}, nil
}

// Load reads the record. ErrNoRecord, ErrFormat and a failed read are three
// different answers.
func (l *Ledger) Load(ctx context.Context) (Record, error) {
	return loadRecord(ctx, l.client, l.shelf)
}

func loadRecord(ctx context.Context, client ReadAPI, s shelf) (Record, error) {
	item, err := s.get(ctx, client, recordItem)
	if err != nil {
		return Record{}, err
	}
	record, err := decodeRecord(item)
	if err != nil {
		return record, fmt.Errorf("read %s of %s: %w", recordItem, s.prefix, err)
	}
	return record, nil
}

// Members reads what every member last reported, the silent ones too.
func (l *Ledger) Members(ctx context.Context) ([]Member, error) {
	return l.shelf.members(ctx, l.client)
}

// Settings change a running move; nil leaves a setting as it is.
type Settings struct {
	Rate     *float64 // rows/s at most; 0 leaves it to the budget
	Budget   *float64 // write units/s on the old key
	Excluded []string // classes of unshardable owners to leave behind
}

// Pause has the runner finish the batch in hand and wait.
func (l *Ledger) Pause(ctx context.Context, why string) error {
	return l.edit(ctx, newEdit().exists().put("control.paused", true).put("control.pausedWhy", why))
}

// Resume ends a pause.
func (l *Ledger) Resume(ctx context.Context) error {
	return l.edit(ctx, newEdit().exists().put("control.paused", false).put("control.pausedWhy", ""))
}

// Set changes the pace of a running move within a heartbeat.
func (l *Ledger) Set(ctx context.Context, s Settings) error {
	e := newEdit().exists()
	if s.Rate != nil {
		e.put("control.rate", *s.Rate)
	}
	if s.Budget != nil {
		e.put("control.budget", *s.Budget)
	}
	if s.Excluded != nil {
		e.put("excluded", s.Excluded)
	}
	if len(e.set) == 0 {
		return nil
	}
	return l.edit(ctx, e)
}

func (l *Ledger) edit(ctx context.Context, e *edit) error {
	_, err := sendEdit(ctx, l.client, l.shelf, recordItem, e)
	if errors.Is(err, errCondition) {
		return fmt.Errorf("change %s of %s: %w", recordItem, l.shelf.prefix, ErrNoRecord)
	}
	return err
}

// errCondition says that an edit's condition was false.
var errCondition = errors.New("migrate: condition failed")

// conflictRoundsMax bounds how often an edit is sent again because a transaction
// was in its way.
const conflictRoundsMax = 12

// sendEdit applies an edit and returns the item as it is then.
func sendEdit(ctx context.Context, client WriteAPI, s shelf, name string, e *edit) (Item, error) {
	if e.err != nil {
		return nil, fmt.Errorf("change %s of %s: %w", name, s.prefix, e.err)
	}
	for round := 0; ; round++ {
		if err := pauseAfter(ctx, round); err != nil {
			return nil, err
		}
		out, err := client.UpdateItem(ctx, e.input(s.table, s.at(name)))
		var failed *types.ConditionalCheckFailedException
		var conflict *types.TransactionConflictException
		switch {
		case err == nil:
			return out.Attributes, nil
		case errors.As(err, &failed):
			return nil, fmt.Errorf("change %s of %s: %w", name, s.prefix, errCondition)
		case errors.As(err, &conflict) && round < conflictRoundsMax:
			continue
		default:
			return nil, fmt.Errorf("change %s of %s: %w", name, s.prefix, err)
		}
	}
}

// stamp is a wall-clock time for people. Nothing is ever decided by it.
func stamp() string { return time.Now().UTC().Format(time.RFC3339Nano) }
