package sim

import (
	"math"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// MoveInput is what a move of live rows is planned from.
type MoveInput struct {
	Rows       int     `json:"rows"`
	RowBytes   int     `json:"rowBytes"`   // of a base item
	EntryBytes int     `json:"entryBytes"` // of an index entry
	Budget     float64 `json:"budget"`     // write units a second on the old key; 0 means 100
	Clock      bool    `json:"clock"`      // single updates in place of transactions

	Stale  time.Duration `json:"stale"`  // staleness bound of members; 0 means 3 s
	Settle time.Duration `json:"settle"` // 0 means 1 s
	Watch  time.Duration `json:"watch"`  // straggler window; 0 means 30 s
}

// Move is what it takes.
type Move struct {
	RowsSecond float64       `json:"rowsPerSecond"`
	Backfill   time.Duration `json:"backfill"` // moving rows
	Total      time.Duration `json:"total"`    // with the waits of every phase
	Units      float64       `json:"units"`    // write units, base and index
	Money      float64       `json:"money"`
}

const (
	budgetDefault = 100 // write units a second, a tenth of a partition
	phaseChanges  = 4   // planned to complete, each waited for by all members
)

// PlanMove computes the move: each row costs a delete on the old key, which
// sets the pace, a put on the new one, and the base write, twice in a
// transaction.
func PlanMove(in MoveInput, p Prices) Move {
	in = in.withDefaults()
	entry := capacity.WriteUnits(in.EntryBytes, 0)
	base := capacity.WriteUnits(in.RowBytes, in.RowBytes)
	if !in.Clock {
		base *= capacity.TransactionFactor
	}
	m := Move{RowsSecond: in.Budget / entry}
	m.Units = float64(in.Rows) * (base + 2*entry)
	m.Money = m.Units * p.WithDefaults().WriteMillion / 1e6
	m.Backfill = time.Duration(math.Ceil(float64(in.Rows)/m.RowsSecond)) * time.Second
	m.Total = m.Backfill + phaseChanges*in.Stale + in.Stale + in.Settle + in.Watch
	return m
}

func (in MoveInput) withDefaults() MoveInput {
	if in.Budget == 0 {
		in.Budget = budgetDefault
	}
	if in.Stale == 0 {
		in.Stale = 3 * time.Second
	}
	if in.Settle == 0 {
		in.Settle = time.Second
	}
	if in.Watch == 0 {
		in.Watch = 30 * time.Second
	}
	return in
}
