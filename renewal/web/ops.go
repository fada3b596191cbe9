package web

import (
	"net/http"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// Ops is what the operator sees: what DynamoDB costs right now, how it is read
// and stamped, and what the sweeps did.
type Ops struct {
	Routing   string            `json:"routing"`
	Phase     string            `json:"phase"`
	Ready     string            `json:"ready"` // "ready", or why not
	Window    time.Duration     `json:"window"`
	Keys      []KeyUse          `json:"keys"`
	Throttles int               `json:"throttles"` // in the window
	Board     BoardUse          `json:"board"`
	Sweeps    []SweepRun        `json:"sweeps"`
	Metrics   renewal.Metrics   `json:"metrics"`
	Findings  []renewal.Finding `json:"findings"`
}

// KeyUse is what one index key costs a second.
type KeyUse struct {
	Key   string  `json:"key"`
	Read  float64 `json:"readUnits"`
	Write float64 `json:"writeUnits"`
	Share float64 `json:"share"` // of what one partition serves
}

// BoardUse says how the shared snapshot is doing.
type BoardUse struct {
	Age   time.Duration `json:"age"`
	Rows  int           `json:"rows"`
	Hits  int64         `json:"hits"`
	Loads int64         `json:"loads"`
	Error string        `json:"error,omitempty"`
}

// SweepRun is a sweep's plan and its last run here.
type SweepRun struct {
	Name   string        `json:"name"`
	Every  time.Duration `json:"every"`
	Next   time.Time     `json:"next,omitzero"`
	Last   time.Time     `json:"last,omitzero"`
	Took   time.Duration `json:"took"`
	Result string        `json:"result,omitempty"`
	Error  string        `json:"error,omitempty"`
}

type opsPage struct {
	page
	Ops
}

func (s *Server) ops(w http.ResponseWriter, r *http.Request) error {
	ops := s.Options.Ops(r.Context())
	ops.Ready = "ready"
	if err := s.Options.Ready(r.Context()); err != nil {
		ops.Ready = err.Error()
	}
	return s.show(w, r, "ops", opsPage{page: s.page("Operations"), Ops: ops}, ops, 0)
}
