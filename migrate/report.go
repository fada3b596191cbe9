package migrate

import (
	"fmt"

	"github.com/hotsplit/hotsplit/shard"
)

// Verdict is what verification says of one row.
type Verdict string

// The verdicts. Rows that are right are counted, not listed.
const (
	VerdictInFlight Verdict = "in flight" // it kept changing while it was looked at
	VerdictDefect   Verdict = "defect"    // it stood still and is wrong
)

// Kind is what is wrong with a row.
type Kind string

// The kinds of defects.
const (
	KindMissing     Kind = "missing"     // in the base table and not on the index
	KindExtra       Kind = "extra"       // on the index under a key that the base row does not carry
	KindStaleCopy   Kind = "stale-copy"  // the entry's attributes are not the base row's
	KindWrongShard  Kind = "wrong-shard" // the base row's key is not what its owner says
	KindOldKey      Kind = "old-key"     // the base row carries a key of the layout that was left
	KindDoubled     Kind = "doubled"     // on the index under two keys
	KindUnshardable Kind = "unshardable" // its owner cannot be keyed
	KindOrphan      Kind = "orphan"      // on the index, and not in the base table
)

// Finding is a row that is not right, or not yet known to be.
type Finding struct {
	Verdict  Verdict `json:"verdict"`
	Kind     Kind    `json:"kind"`
	Key      Item    `json:"-"`
	KeyText  string  `json:"key"`
	Owner    string  `json:"owner,omitempty"`
	IndexKey string  `json:"indexKey,omitempty"` // that the base row carries
	Want     string  `json:"want,omitempty"`
	Detail   string  `json:"detail,omitempty"`
	row      Item
}

func (f Finding) String() string {
	return fmt.Sprintf("%s %s: row %s of owner %q carries %q, want %q %s", f.Verdict, f.Kind, f.KeyText, f.Owner, f.IndexKey, f.Want, f.Detail)
}

// findingsMax bounds the findings that a report lists; all are counted.
const findingsMax = 1000

// OwnersReport counts owners.
type OwnersReport struct {
	Checked   int64 `json:"checked"`
	Identical int64 `json:"identical"` // what the index shows of them is what the base table holds
}

// RowsReport counts rows.
type RowsReport struct {
	Checked  int64 `json:"checked"`
	OK       int64 `json:"ok"`
	InFlight int64 `json:"inFlight"`
	Defects  int64 `json:"defects"`
	OnFrom   int64 `json:"onFrom"` // rows that carry a key of the layout that is left, and not one of the other's
	OnTo     int64 `json:"onTo"`
	Rechecks int64 `json:"rechecks"` // rows that were looked at again
}

// Report is what a verification found.
type Report struct {
	Name       string           `json:"name"`
	Phase      shard.Phase      `json:"phase"`
	Generation int64            `json:"generation"`
	Owners     OwnersReport     `json:"owners"`
	Rows       RowsReport       `json:"rows"`
	Kinds      map[Kind]int64   `json:"kinds,omitempty"`
	Classes    map[string]int64 `json:"unshardable,omitempty"` // by class of owner
	Findings   []Finding        `json:"findings,omitempty"`
	Sample     int              `json:"sample,omitempty"`
	Seed       uint64           `json:"seed,omitempty"`
	Seconds    float64          `json:"seconds"`
	At         string           `json:"at"`
	Unfinished string           `json:"unfinished,omitempty"` // why it could not find out
	excluded   map[string]bool
}

// Err is nil where everything was proved right, wraps ErrDiverged where something
// was proved wrong, and ErrUnverified where it could not be found out.
func (r *Report) Err() error {
	switch {
	case r.Rows.Defects > 0:
		return fmt.Errorf("%w: %d defects in %d rows", ErrDiverged, r.Rows.Defects, r.Rows.Checked)
	case r.Unfinished != "":
		return fmt.Errorf("%w: %s", ErrUnverified, r.Unfinished)
	}
	return nil
}

func (r *Report) String() string {
	return fmt.Sprintf("%d of %d owners identical, %d rows: %d ok, %d in flight, %d defects",
		r.Owners.Identical, r.Owners.Checked, r.Rows.Checked, r.Rows.OK, r.Rows.InFlight, r.Rows.Defects)
}

func (r *Report) add(f Finding) {
	switch f.Verdict {
	case VerdictInFlight:
		r.Rows.InFlight++
	case VerdictDefect:
		r.Rows.Defects++
		if r.Kinds == nil {
			r.Kinds = map[Kind]int64{}
		}
		r.Kinds[f.Kind]++
	}
	if len(r.Findings) < findingsMax {
		r.Findings = append(r.Findings, f)
	}
}
