package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hotsplit/hotsplit/heat"
)

// trace writes a planted trace for a script: trace KIND FILE.
func trace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: trace hot|cold|owner|short FILE")
	}
	file, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(writePlanted(file, args[0]))
}

// writePlanted writes a planted trace and closes the file.
func writePlanted(file *os.File, kind string) error {
	w := heat.NewTraceWriter(file, false)
	plant(kind, w.Write)
	return errors.Join(w.Flush(), file.Close())
}

// plant emits ten minutes of the ADR's traffic: bursts that saturate the constant
// key ("hot"), the quiet hours alone ("cold"), one person who is asked for all the
// time ("owner", a minute), or five quiet seconds ("short").
func plant(kind string, observe func(heat.Event)) {
	chance := rand.New(rand.NewPCG(85, 1))
	began := time.Date(2026, 7, 8, 9, 0, 0, 0, time.UTC)
	seconds := 600
	switch kind {
	case "short":
		seconds = 5
	case "owner":
		seconds = 60
	}
	for i := range seconds {
		at := began.Add(time.Duration(i) * time.Second)
		query := func(caller, owner string, units float64) {
			observe(heat.Event{
				Time: at, Operation: "Query", Table: "propflow-prod", Index: "renewal-saga-person-index", Key: "RenewalSaga",
				Sort: owner + "#", Owner: owner, Caller: caller, Read: units, Primary: true, Latency: 7 * time.Millisecond,
			})
		}
		for range 60 {
			query("GET /leasing/renewals", fmt.Sprintf("person-%05d", chance.IntN(179)), 2.5)
		}
		if kind == "hot" && i%120 < 12 {
			for range 1040 {
				query("GET /leasing/renewals", fmt.Sprintf("person-%05d", chance.IntN(179)), 2.5)
			}
			observe(heat.Event{
				Time: at, Operation: "Query", Table: "propflow-prod", Index: "renewal-saga-person-index", Key: "RenewalSaga", Sort: "person-00001#",
				Caller: "GET /leasing/renewals/{leaseId}", Throttled: 12, Reason: "IndexReadKeyRangeThroughputExceeded", Failed: i%3 == 0,
			})
		}
		if kind == "owner" {
			for range 1100 {
				query("inbound voice", "person-00007", 2.5)
			}
		}
	}
}
