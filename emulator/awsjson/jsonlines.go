package awsjson

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
)

// logLine is an entry of the operation log as JSON.
type logLine struct {
	Sequence  uint64       `json:"sequence"`
	Time      time.Time    `json:"time"`
	Caller    string       `json:"caller,omitempty"`
	Operation string       `json:"operation"`
	Table     string       `json:"table,omitempty"`
	Index     string       `json:"index,omitempty"`
	Units     []unitsLine  `json:"units,omitempty"`
	Outcome   string       `json:"outcome"`
	Reasons   []reasonLine `json:"reasons,omitempty"`
	Fault     string       `json:"fault,omitempty"`
}

type unitsLine struct {
	Table     string  `json:"table"`
	Index     string  `json:"index,omitempty"`
	Partition int     `json:"partition"`
	Key       string  `json:"key"`
	Sort      string  `json:"sort,omitempty"`
	Read      float64 `json:"read,omitempty"`
	Write     float64 `json:"write,omitempty"`
	Refused   bool    `json:"refused,omitempty"`
}

type reasonLine struct {
	Reason   string `json:"reason"`
	Resource string `json:"resource"`
}

func lineOf(e emulator.LogEntry) logLine {
	line := logLine{Sequence: e.Sequence, Time: e.Time, Caller: e.Caller, Operation: e.Operation, Table: e.Table, Index: e.Index, Outcome: e.Outcome, Fault: e.Fault}
	for _, u := range e.Units {
		line.Units = append(line.Units, unitsLine(u))
	}
	for _, r := range e.Reasons {
		line.Reasons = append(line.Reasons, reasonLine(r))
	}
	return line
}

// log is the operation log as JSON lines, behind entry since.
func (c *console) log(w http.ResponseWriter, r *http.Request) {
	since, _ := strconv.ParseUint(r.FormValue("since"), 10, 64)
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Cache-Control", "no-store")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, entry := range c.db.LogSince(since) {
		if e.Encode(lineOf(entry)) != nil {
			return
		}
	}
}

// heatLine is the heat of a table or index as JSON.
type heatLine struct {
	Table      string          `json:"table"`
	Index      string          `json:"index,omitempty"`
	ARN        string          `json:"arn"`
	Partitions []partitionLine `json:"partitions"`
	Seconds    []secondLine    `json:"seconds"`
}

type partitionLine struct {
	ID        int   `json:"id"`
	Ceiling   units `json:"ceiling"`
	Available units `json:"available"`
	Used      units `json:"used"`
	Throttled struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"throttled"`
}

type secondLine struct {
	Time time.Time `json:"time"`
	Keys []keyLine `json:"keys"`
}

type keyLine struct {
	Key       string  `json:"key"`
	Partition int     `json:"partition"`
	Read      float64 `json:"read"`
	Write     float64 `json:"write"`
	Throttled int     `json:"throttled"`
}

// heat is the heat of the last seconds=n, 60 unless said otherwise.
func (c *console) heat(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.Atoi(r.FormValue("seconds"))
	if err != nil || seconds <= 0 {
		seconds = viewSeconds
	}
	lines := []heatLine{}
	for _, h := range c.db.Heat(c.db.Now().Add(-time.Duration(seconds) * time.Second)) {
		lines = append(lines, heatLineOf(h))
	}
	respond(w, http.StatusOK, lines)
}

func heatLineOf(h emulator.ResourceHeat) heatLine {
	line := heatLine{Table: h.Table, Index: h.Index, ARN: h.ARN, Partitions: []partitionLine{}, Seconds: []secondLine{}}
	for _, p := range h.Partitions {
		partition := partitionLine{ID: p.ID, Ceiling: units(p.Ceiling), Available: units(p.Available), Used: units(p.Used)}
		partition.Throttled.Read, partition.Throttled.Write = p.ReadThrottled, p.WriteThrottled
		line.Partitions = append(line.Partitions, partition)
	}
	for _, s := range h.Seconds {
		second := secondLine{Time: s.Time}
		for _, k := range s.Keys {
			second.Keys = append(second.Keys, keyLine(k))
		}
		line.Seconds = append(line.Seconds, second)
	}
	return line
}
