package emulator

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// DB is one account in one region. All methods may be used by many goroutines.
type DB struct {
	opts Options

	mu     sync.RWMutex // guards tables, not what is in them
	tables map[string]*table
	made   int // tables ever made, so that each has draws of its own

	exprs expr.Cache
	ahead atomic.Int64 // of the process's clock, in nanoseconds
	// userErrors and systemErrors are counted for the account as a whole.
	userErrors, systemErrors atomic.Int64

	log    operationLog
	faults faultScript
	tokens tokenBook
}

// New makes an empty DB.
func New(opts Options) *DB {
	opts = opts.withDefaults()
	db := &DB{opts: opts, tables: map[string]*table{}}
	db.log.limit = opts.LogEntries
	db.faults.rng = newRand(opts.Seed, "faults", 0)
	return db
}

func newRand(seed int64, purpose string, n int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), capacity.Place(uint64(n), purpose)))
}

type callerKey struct{}

// WithCaller names who makes the requests of ctx, for the operation log and for
// faults.
func WithCaller(ctx context.Context, caller string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

func callerOf(ctx context.Context) string {
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}

// find is the table called name, which may be an ARN, whatever its status.
func (db *DB) find(name string, now time.Time) *table {
	name = nameOf(name)
	db.mu.RLock()
	t := db.tables[name]
	db.mu.RUnlock()
	if t != nil && t.gone(now) {
		db.forget(t)
		return nil
	}
	return t
}

// forget drops a table whose deletion has come to its end.
func (db *DB) forget(t *table) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.tables[t.name] == t {
		delete(db.tables, t.name)
	}
}

// readable is the table called name if it serves items.
func (db *DB) readable(name string, now time.Time) (*table, error) {
	t := db.find(name, now)
	if t == nil || !t.serves(now) {
		return nil, newError(CodeResourceNotFound, "Requested resource not found")
	}
	return t, nil
}

// names are the tables there are, in order.
func (db *DB) names(now time.Time) []string {
	db.mu.RLock()
	defer db.mu.RUnlock()
	names := make([]string, 0, len(db.tables))
	for name, t := range db.tables {
		if !t.gone(now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (db *DB) arn(tableName string) string {
	return "arn:aws:dynamodb:" + db.opts.Region + ":" + db.opts.Account + ":table/" + tableName
}

// nameOf is the table that a name or an ARN stands for.
func nameOf(nameOrARN string) string {
	if !strings.HasPrefix(nameOrARN, "arn:") {
		return nameOrARN
	}
	_, name, _ := strings.Cut(nameOrARN, ":table/")
	name, _, _ = strings.Cut(name, "/")
	return name
}
