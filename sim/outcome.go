package sim

import (
	"runtime"
	"sync"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// Outcome is what one design came to.
type Outcome struct {
	Design     Design         `json:"design"`
	Days       float64        `json:"days"`
	Partitions int            `json:"partitions"` // of the index at the end
	Requests   int            `json:"requests"`   // attempts that reached the service
	Throttled  int            `json:"throttled"`  // attempts that were refused
	Events     int            `json:"events"`     // calls that failed, their retries exhausted: what an error tracker shows
	Episodes   int            `json:"episodes"`   // stretches of events with no pause of five minutes
	UserErrors int            `json:"userErrors"` // events that a person saw
	Gaps       int            `json:"gaps"`       // pages that a person saw with rows missing
	Routes     []RouteOutcome `json:"routes"`
	Hottest    KeyPeak        `json:"hottest"`
	// Fullest is the busiest second of any partition of the index, in shares of its
	// ceiling; a full bucket and a second's refill together allow 2. With splits it
	// counts by the partitions of the start.
	Fullest float64 `json:"fullest"`
	Hours   []Hour  `json:"hours"`
	Units   Units   `json:"units"`
	Cost    Cost    `json:"cost"`
}

// RouteOutcome is what one route's calls came to.
type RouteOutcome struct {
	Name       string        `json:"name"`
	Background bool          `json:"background,omitempty"`
	Calls      int           `json:"calls"`
	Failed     int           `json:"failed"`
	Gaps       int           `json:"gaps,omitempty"`
	Throttled  int           `json:"throttled"`
	Mean       time.Duration `json:"mean"`
	P50        time.Duration `json:"p50"`
	P90        time.Duration `json:"p90"`
	P99        time.Duration `json:"p99"`
	P999       time.Duration `json:"p999"`
	Worst      time.Duration `json:"worst"`
}

// KeyPeak is the busiest second of a key, in shares of one partition's ceiling.
type KeyPeak struct {
	Key  string    `json:"key"`
	Load float64   `json:"load"`
	At   time.Time `json:"at"`
}

// Hour is one hour: the busiest second of any key, and what was refused.
type Hour struct {
	At        time.Time `json:"at"`
	Load      float64   `json:"load"`
	Key       string    `json:"key,omitempty"`
	Throttled int       `json:"throttled,omitempty"`
	Events    int       `json:"events,omitempty"`
}

// Units is what was consumed in the whole time.
type Units struct {
	IndexRead  float64 `json:"indexRead"`
	IndexWrite float64 `json:"indexWrite"`
	TableRead  float64 `json:"tableRead"`
	TableWrite float64 `json:"tableWrite"`
}

// Cost is money.
type Cost struct {
	Month float64 `json:"month"` // of 30 days
	Once  float64 `json:"once"`  // to warm the index
}

// costOf prices the units of this workload alone: what else uses the table is
// equal in all designs and left out.
func costOf(d Design, u Units, w Workload) Cost {
	p := w.Prices
	month := 30 / w.Days
	onDemand := func(read, write float64) float64 {
		return month * (read*p.ReadMillion + write*p.WriteMillion) / 1e6
	}
	c := Cost{Month: onDemand(u.TableRead, u.TableWrite)}
	if d.ProvisionedRead > 0 {
		c.Month += 30 * 24 * (d.ProvisionedRead*p.ReadUnitHour + d.ProvisionedWrite*p.WriteUnitHour)
		return c
	}
	c.Month += onDemand(u.IndexRead, u.IndexWrite)
	if more := float64(d.partitions() - capacity.PartitionsDefault); more > 0 {
		c.Once = more * (capacity.PartitionCeiling.Read*p.WarmReadUnits + capacity.PartitionCeiling.Write*p.WarmWriteUnits)
	}
	return c
}

// Compare plays every design of the workload, on all cores, and gives the
// outcomes in the designs' order.
func Compare(w Workload) ([]Outcome, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	w = w.withDefaults()
	outcomes := make([]Outcome, len(w.Designs))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(w.Designs)) {
		workers.Go(func() {
			for i := range next {
				// Run only fails on what Validate has checked.
				outcomes[i], _ = Run(w, w.Designs[i])
			}
		})
	}
	for i := range w.Designs {
		next <- i
	}
	close(next)
	workers.Wait()
	return outcomes, nil
}
