package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"

	"github.com/hotsplit/hotsplit/emulator"
)

// physicsFlags are the emulator's options as flags. Their defaults are spelled
// out, so that --help is the list of what the emulator assumes.
type physicsFlags struct {
	emulator.Options
	isolateKeys bool
	indexOrder  string
}

func (p *physicsFlags) register(f *pflag.FlagSet) {
	f.SortFlags = false
	f.Int64Var(&p.Seed, "seed", 0, "source of every draw: placement of keys, lag, order of ties, faults")
	f.StringVar(&p.Region, "region", "us-east-1", "region in ARNs")
	f.StringVar(&p.Account, "account", "123456789012", "account in ARNs")

	f.BoolVar(&p.Unlimited, "unlimited", false, "throttle nothing; what requests cost is still counted")
	f.Float64Var(&p.PartitionCeiling.Write, "partition-writes", 1000, "write `units` a second of one physical partition")
	f.Float64Var(&p.PartitionCeiling.Read, "partition-reads", 3000, "read `units` a second of one physical partition")
	f.IntVar(&p.Partitions, "partitions", 4, "physical partitions of a new on-demand table or index; warm throughput raises it")
	f.BoolVar(&p.isolateKeys, "isolate-keys", false, "give every partition key a physical partition of its own")
	f.BoolVar(&p.CoupledUnits, "coupled-units", false, "let reads and writes of a partition share one budget")
	f.Float64Var(&p.OnDemandStart.Write, "on-demand-writes", 4000, "write `units` a second that a new on-demand table or index serves at once")
	f.Float64Var(&p.OnDemandStart.Read, "on-demand-reads", 12000, "read `units` a second that a new on-demand table or index serves at once")
	f.Float64Var(&p.TableQuota.Write, "table-quota-writes", 40000, "write `units` a second that the account allows a table, and each index")
	f.Float64Var(&p.TableQuota.Read, "table-quota-reads", 40000, "read `units` a second that the account allows a table, and each index")
	f.BoolVar(&p.NoTableLimits, "no-table-limits", false, "limit partitions only, not tables and indexes as a whole")
	f.BoolVar(&p.QuotaError, "quota-error", false, "answer a passed quota with RequestLimitExceeded instead of ThrottlingException")
	f.BoolVar(&p.TransactionIndexUnits, "transaction-index-units", false, "double the index units of transactional writes too")
	f.BoolVar(&p.RefusedWriteBurnsTable, "refused-write-burns-table", false, "charge the table for a write that an index refused")
	f.IntVar(&p.IndexBacklog, "index-backlog", 0, "`writes` that an index partition out of units still takes before it refuses")
	f.IntVar(&p.SplitForHeat.Minutes, "split-minutes", 0, "`minutes` of heat after which a partition splits; 0 never splits")
	f.Float64Var(&p.SplitForHeat.Share, "split-share", 0.8, "`share` of its ceiling at which a partition counts as hot")

	f.DurationVar(&p.LagMin, "lag-min", 10*time.Millisecond, "least delay of an index change")
	f.DurationVar(&p.LagMax, "lag-max", 200*time.Millisecond, "largest delay of an index change; 0 means none at all")
	f.StringVar(&p.indexOrder, "index-order", "drawn", "which half of a key change an index shows first: drawn, delete-first or put-first")
	f.IntVar(&p.PageBytes, "page-bytes", 1<<20, "`bytes` after which a page of Query or Scan ends")
	f.IntVar(&p.PageItems, "page-items", 0, "`items` after which a page ends; 0 means no such bound")
	f.DurationVar(&p.TableDelay, "table-delay", 0, "how long a table or index stays CREATING, UPDATING or DELETING")

	f.IntVar(&p.LogEntries, "log-entries", 16384, "`requests` that the operation log keeps")
	f.IntVar(&p.HeatKeys, "heat-keys", 1024, "`keys` that a second of heat tells apart in one table or index")
}

var indexOrders = map[string]emulator.IndexOrder{
	"drawn":        emulator.IndexOrderDrawn,
	"delete-first": emulator.IndexOrderDeleteFirst,
	"put-first":    emulator.IndexOrderPutFirst,
}

// options checks the flags and reports all faults together.
func (p *physicsFlags) options() (emulator.Options, error) {
	o := p.Options
	order, known := indexOrders[p.indexOrder]
	o.IndexOrder = order
	if p.isolateKeys {
		o.Placement = emulator.PlacementIsolated
	}
	err := errors.Join(
		require(known, "--index-order %s: want drawn, delete-first or put-first", p.indexOrder),
		require(o.LagMin >= 0 && o.LagMin <= o.LagMax, "--lag-min %v and --lag-max %v: want 0 <= lag-min <= lag-max", o.LagMin, o.LagMax),
		require(o.SplitForHeat.Share > 0 && o.SplitForHeat.Share <= 1, "--split-share %v: want more than 0, at most 1", o.SplitForHeat.Share),
		require(o.TableDelay >= 0, "--table-delay %v: want 0 or more", o.TableDelay),
		positive("partition-writes", o.PartitionCeiling.Write), positive("partition-reads", o.PartitionCeiling.Read),
		positive("on-demand-writes", o.OnDemandStart.Write), positive("on-demand-reads", o.OnDemandStart.Read),
		positive("table-quota-writes", o.TableQuota.Write), positive("table-quota-reads", o.TableQuota.Read),
		positive("partitions", float64(o.Partitions)), positive("page-bytes", float64(o.PageBytes)),
		positive("log-entries", float64(o.LogEntries)), positive("heat-keys", float64(o.HeatKeys)),
		require(o.PageItems >= 0 && o.IndexBacklog >= 0 && o.SplitForHeat.Minutes >= 0, "--page-items, --index-backlog and --split-minutes: want 0 or more"),
	)
	if o.LagMax == 0 {
		o.LagMin, o.LagMax = -1, -1
	}
	return o, err
}

func positive(flag string, n float64) error {
	return require(n > 0 && !math.IsInf(n, 1), "--%s %v: want more than 0", flag, n)
}

func require(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
