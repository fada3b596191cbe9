package emulator

import (
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// space is the physical side of a table or a global index: its partitions, its
// own rate, and what they saw. The table's meter guards it.
type space struct {
	arn   string
	table string
	index string // name of the index, "" for a table
	mode  capacity.Mode
	set   *capacity.Set
	gate  *capacity.Gate
	split bool // splits for heat are on: points must be exact

	heat     heatRing
	counters counters
	grown    time.Time // when the number of partitions was looked at last
}

// throughput is how the rate of a table or a global index is set.
type throughput struct {
	read, write         int64 // provisioned
	maxRead, maxWrite   int64 // on-demand maximum; 0 means none
	warmRead, warmWrite int64 // asked for; 0 means the default
	increased           time.Time
	decreased           time.Time
	decreases           int64
}

func (o Options) newSpace(table, indexName string, mode capacity.Mode, tp throughput, keepCollections bool, now time.Time) *space {
	s := &space{table: table, index: indexName, mode: mode, split: o.SplitForHeat.Minutes > 0}
	s.heat.keysMax = o.HeatKeys
	set := capacity.SetOptions{
		Partitions: o.partitionsOf(mode, tp),
		Ceiling:    capacity.Ceiling(o.PartitionCeiling),
		Coupled:    o.CoupledUnits,
		Isolated:   o.Placement == PlacementIsolated,
	}
	if s.split {
		set.Split = capacity.SplitOptions{
			Share:           o.SplitForHeat.Share,
			Sustain:         time.Duration(o.SplitForHeat.Minutes) * time.Minute,
			KeepCollections: keepCollections,
		}
	}
	s.set = capacity.NewSet(set, now)
	s.gate = capacity.NewGate(o.gateOf(mode, tp), now)
	return s
}

func (o Options) partitionsOf(mode capacity.Mode, tp throughput) int {
	n := o.Partitions
	if mode == capacity.Provisioned {
		n = capacity.PartitionsFor(float64(tp.read), float64(tp.write))
	}
	return max(n, capacity.PartitionsFor(float64(tp.warmRead), float64(tp.warmWrite)))
}

func (o Options) gateOf(mode capacity.Mode, tp throughput) capacity.GateOptions {
	return capacity.GateOptions{
		Mode: mode,
		Read: float64(tp.read), Write: float64(tp.write),
		MaxRead: float64(tp.maxRead), MaxWrite: float64(tp.maxWrite),
		WarmRead:  max(float64(tp.warmRead), o.OnDemandStart.Read),
		WarmWrite: max(float64(tp.warmWrite), o.OnDemandStart.Write),
		QuotaRead: o.TableQuota.Read, QuotaWrite: o.TableQuota.Write,
		Unlimited: o.NoTableLimits,
	}
}

// reconfigure follows a change of billing mode or throughput.
func (s *space) reconfigure(o Options, mode capacity.Mode, tp throughput, now time.Time) {
	s.mode = mode
	s.gate.Configure(o.gateOf(mode, tp), now)
	s.set.Grow(o.partitionsOf(mode, tp), now)
}

// grow lets the partitions follow load: those behind an on-demand ceiling that
// rose, and those that stayed hot.
func (s *space) grow(now time.Time) {
	if now.Sub(s.grown) < time.Second {
		return
	}
	s.grown = now
	s.set.SplitHot(now)
	if s.mode == capacity.OnDemand {
		read, write := s.gate.Ceiling(capacity.Read, now), s.gate.Ceiling(capacity.Write, now)
		if n := capacity.PartitionsFor(read, write); n > capacity.PartitionsDefault {
			s.set.Grow(n, now)
		}
	}
}

func (s *space) report(table string, from, now time.Time) ResourceHeat {
	r := ResourceHeat{Table: table, Index: s.index, ARN: s.arn, Seconds: s.heat.since(from, now)}
	for _, p := range s.set.All() {
		used := p.Used()
		r.Partitions = append(r.Partitions, PartitionHeat{
			ID:             p.ID,
			Ceiling:        Units(p.Ceiling()),
			Available:      Units{p.Level(capacity.Read, now), p.Level(capacity.Write, now)},
			Used:           Units{used.Read, used.Write},
			ReadThrottled:  used.ReadThrottled,
			WriteThrottled: used.WriteThrottled,
		})
	}
	return r
}
