package sim

import (
	"errors"
	"fmt"
	"time"
)

// ErrWorkload is wrapped by every error about a workload or design that cannot
// be played. Do not retry; the error names the field.
var ErrWorkload = errors.New("sim: bad workload")

// Workload is who asks what of one index, when and how often.
type Workload struct {
	Name    string    `yaml:"name" json:"name"`
	Seed    uint64    `yaml:"seed" json:"seed"`
	Start   time.Time `yaml:"start" json:"start"` // in the users' local time
	Days    float64   `yaml:"days" json:"days"`
	Rows    Rows      `yaml:"rows" json:"rows"`
	Table   Table     `yaml:"table" json:"table"`
	Latency Latency   `yaml:"latency" json:"latency"`
	Retry   Retry     `yaml:"retry" json:"retry"`
	Routes  []Route   `yaml:"routes" json:"routes"`
	Prices  Prices    `yaml:"prices" json:"prices"`
	Designs []Design  `yaml:"designs" json:"designs"`
}

// Rows is what lies on the index.
type Rows struct {
	Count  int     `yaml:"count" json:"count"`
	Owners int     `yaml:"owners" json:"owners"` // that share the rows; 0 means one each
	Bytes  int     `yaml:"bytes" json:"bytes"`   // of an index entry
	Skew   float64 `yaml:"skew" json:"skew"`     // Zipf exponent of how often an owner is asked for; 0 is even
	Base   string  `yaml:"base" json:"base"`     // the old key
}

// Table is the table behind the index. Its own keys are spread well.
type Table struct {
	Bytes      float64 `yaml:"bytes" json:"bytes"` // of the whole table, which a Scan reads
	Partitions int     `yaml:"partitions" json:"partitions"`
}

// Latency is how long one request takes when it is served, network included.
type Latency struct {
	Median time.Duration `yaml:"median" json:"median"`
	P99    time.Duration `yaml:"p99" json:"p99"` // 0 means always the median
	PerMB  time.Duration `yaml:"perMB" json:"perMB"`
}

// Retry is the client's retry policy.
type Retry struct {
	Model    string `yaml:"model" json:"model"`       // RetrySDK or RetryLegacy
	Attempts int    `yaml:"attempts" json:"attempts"` // 0 means the model's
}

// Route is one source of calls: a page, a sweep, a job. Routes of one name are
// reported together. Exactly one of Poll, Every, PerHour and Burst says when.
type Route struct {
	Name string `yaml:"name" json:"name"`

	// Reads is "owner", "owners" (a fan-out over Owners of them) or "all".
	// Writes is "open" (a new row) or "update" (a row changes, its key does not).
	Reads    string `yaml:"reads" json:"reads,omitempty"`
	Writes   string `yaml:"writes" json:"writes,omitempty"`
	Owners   int    `yaml:"owners" json:"owners,omitempty"`
	Parallel int    `yaml:"parallel" json:"parallel,omitempty"` // requests of a call in flight; 0 means all

	Poll     *Range        `yaml:"poll" json:"poll,omitempty"`         // pause between a session's calls
	Sessions int           `yaml:"sessions" json:"sessions,omitempty"` // open at a time, within Hours
	Surge    *Surge        `yaml:"surge" json:"surge,omitempty"`       // sessions exist only in surges
	Every    time.Duration `yaml:"every" json:"every,omitempty"`
	Offset   time.Duration `yaml:"offset" json:"offset,omitempty"`
	Jitter   time.Duration `yaml:"jitter" json:"jitter,omitempty"`
	PerHour  float64       `yaml:"perHour" json:"perHour,omitempty"`
	Burst    *Burst        `yaml:"burst" json:"burst,omitempty"`
	Hours    Hours         `yaml:"hours" json:"hours"`

	Client     string `yaml:"client" json:"client,omitempty"` // routes of one client share its retry budget
	Background bool   `yaml:"background" json:"background,omitempty"`

	// Tolerant calls leave a gap where a request failed and go on; then the caller
	// sees a page with gaps, and no error.
	Tolerant bool `yaml:"tolerant" json:"tolerant,omitempty"`

	// Amplifier marks what the design "amplifiers cut" changes: a page that a
	// snapshot can serve, a sweep that can be staggered.
	Amplifier bool `yaml:"amplifier" json:"amplifier,omitempty"`
}

// Range is a uniform range of times.
type Range struct {
	Min time.Duration `yaml:"min" json:"min"`
	Max time.Duration `yaml:"max" json:"max"`
}

// Surge is a time when many look at once, such as a team meeting. Routes with
// surges of one name have them at the same times.
type Surge struct {
	Name     string  `yaml:"name" json:"name"`
	PerWeek  float64 `yaml:"perWeek" json:"perWeek"`
	Length   Range   `yaml:"length" json:"length"`
	Sessions [2]int  `yaml:"sessions" json:"sessions"` // fewest and most
}

// Burst is a number of calls close together.
type Burst struct {
	PerWeek float64       `yaml:"perWeek" json:"perWeek"`
	Calls   [2]int        `yaml:"calls" json:"calls"`
	Over    time.Duration `yaml:"over" json:"over"`
}

// Hours limits a route to working hours. The zero Hours is always.
type Hours struct {
	Weekdays bool `yaml:"weekdays" json:"weekdays,omitempty"` // Monday to Friday only
	From     int  `yaml:"from" json:"from,omitempty"`         // hour of the day
	To       int  `yaml:"to" json:"to,omitempty"`             // 0 means midnight
}

func (h Hours) contain(t time.Time) bool {
	if d := t.Weekday(); h.Weekdays && (d == time.Saturday || d == time.Sunday) {
		return false
	}
	return t.Hour() >= h.From && (h.To == 0 || t.Hour() < h.To)
}

// Prices is what units cost, in one currency. Zero fields mean us-east-1's list
// prices of 2026 in US dollars.
type Prices struct {
	ReadMillion    float64 `yaml:"readMillion" json:"readMillion"`       // on demand
	WriteMillion   float64 `yaml:"writeMillion" json:"writeMillion"`     // on demand
	ReadUnitHour   float64 `yaml:"readUnitHour" json:"readUnitHour"`     // provisioned
	WriteUnitHour  float64 `yaml:"writeUnitHour" json:"writeUnitHour"`   // provisioned
	WarmReadUnits  float64 `yaml:"warmReadUnits" json:"warmReadUnits"`   // once, per unit a second
	WarmWriteUnits float64 `yaml:"warmWriteUnits" json:"warmWriteUnits"` // once, per unit a second
}

// WithDefaults fills what is zero.
func (p Prices) WithDefaults() Prices {
	fill := func(f *float64, v float64) {
		if *f == 0 {
			*f = v
		}
	}
	fill(&p.ReadMillion, 0.125)
	fill(&p.WriteMillion, 0.625)
	fill(&p.ReadUnitHour, 0.00013)
	fill(&p.WriteUnitHour, 0.00065)
	fill(&p.WarmReadUnits, 0.00013)
	fill(&p.WarmWriteUnits, 0.00065)
	return p
}

func (w Workload) withDefaults() Workload {
	if w.Rows.Owners == 0 {
		w.Rows.Owners = w.Rows.Count
	}
	if w.Latency.Median == 0 {
		w.Latency.Median = 5 * time.Millisecond
	}
	if w.Retry.Model == "" {
		w.Retry.Model = RetrySDK
	}
	if w.Table.Partitions == 0 {
		w.Table.Partitions = 4
	}
	if w.Rows.Base == "" {
		w.Rows.Base = "key"
	}
	w.Prices = w.Prices.WithDefaults()
	if len(w.Designs) == 0 {
		w.Designs = Designs()
	}
	return w
}

// Validate reports everything that is wrong with w, joined.
func (w Workload) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrWorkload, fmt.Sprintf(format, args...)))
	}
	if w.Days <= 0 || w.Days > 366 {
		fault("days is %v, want more than 0 and at most 366", w.Days)
	}
	if w.Start.IsZero() {
		fault("start is missing")
	}
	if w.Rows.Count < 1 || w.Rows.Bytes < 1 {
		fault("rows: count and bytes must be positive")
	}
	if w.Retry.Model != "" && w.Retry.Model != RetrySDK && w.Retry.Model != RetryLegacy {
		fault("retry: model is %q, want %q or %q", w.Retry.Model, RetrySDK, RetryLegacy)
	}
	if len(w.Routes) == 0 {
		fault("routes is empty")
	}
	for i, r := range w.Routes {
		for _, text := range r.faults() {
			fault("route %d (%s): %s", i+1, r.Name, text)
		}
	}
	names := map[string]bool{}
	for i, d := range w.Designs {
		if text := d.fault(); text != "" {
			fault("design %d (%s): %s", i+1, d.Name, text)
		}
		if names[d.Name] {
			fault("design %d: the name %q is there twice", i+1, d.Name)
		}
		names[d.Name] = true
	}
	return errors.Join(faults...)
}

func (r Route) faults() []string {
	var faults []string
	if r.Name == "" {
		faults = append(faults, "name is missing")
	}
	if (r.Reads == "") == (r.Writes == "") {
		faults = append(faults, "one of reads and writes is needed")
	}
	switch r.Reads {
	case "", "owner", "all":
	case "owners":
		if r.Owners < 1 {
			faults = append(faults, "owners must be positive")
		}
	default:
		faults = append(faults, fmt.Sprintf("reads is %q, want owner, owners or all", r.Reads))
	}
	if r.Writes != "" && r.Writes != "open" && r.Writes != "update" {
		faults = append(faults, fmt.Sprintf("writes is %q, want open or update", r.Writes))
	}
	when := 0
	for _, given := range []bool{r.Poll != nil, r.Every > 0, r.PerHour > 0, r.Burst != nil} {
		if given {
			when++
		}
	}
	if when != 1 {
		faults = append(faults, "exactly one of poll, every, perHour and burst is needed")
	}
	if r.Poll != nil && (r.Poll.Min <= 0 || r.Poll.Max < r.Poll.Min || (r.Sessions < 1 && r.Surge == nil)) {
		faults = append(faults, "poll needs 0 < min <= max, and sessions or a surge")
	}
	if r.Burst != nil && (r.Burst.Calls[0] < 1 || r.Burst.Calls[1] < r.Burst.Calls[0]) {
		faults = append(faults, "burst: calls are [fewest, most], from 1")
	}
	if s := r.Surge; s != nil && (s.Sessions[0] < 1 || s.Sessions[1] < s.Sessions[0] || s.Length.Max < s.Length.Min) {
		faults = append(faults, "surge: sessions are [fewest, most], from 1, and length min <= max")
	}
	return faults
}
