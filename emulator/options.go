package emulator

import "time"

// Units is an amount or a rate of read and write capacity units.
type Units struct{ Read, Write float64 }

// Placement says how partition keys meet partitions.
type Placement uint8

const (
	// PlacementHash puts a key on the partition that owns its seeded hash.
	PlacementHash Placement = iota
	// PlacementIsolated gives every partition key a partition of its own, so that
	// what one key can do is exact.
	PlacementIsolated
)

// IndexOrder says which half of a key change an index shows first.
type IndexOrder uint8

const (
	// IndexOrderDrawn draws the order with the lag.
	IndexOrderDrawn IndexOrder = iota
	// IndexOrderDeleteFirst shows the delete before the put: for a moment the
	// row is in neither place.
	IndexOrderDeleteFirst
	// IndexOrderPutFirst shows the put before the delete: for a moment the row is
	// in both places.
	IndexOrderPutFirst
)

// Options tunes a DB. The zero value behaves as production does, as far as it is
// known, and makes the choices of physics.md where it is not.
type Options struct {
	Seed    int64  // source of every draw: placement, lag, ties, faults
	Region  string // "" means us-east-1
	Account string // "" means 123456789012

	// Unlimited switches every capacity limit off: what a request costs is still
	// counted, and nothing is throttled.
	Unlimited bool
	// PartitionCeiling is what one physical partition serves in a second; a zero
	// member means 3,000 reads and 1,000 writes.
	PartitionCeiling Units
	// Partitions is what a new on-demand table or index starts with; 0 means 4.
	Partitions int
	Placement  Placement
	// OnDemandStart is what a new on-demand table or index serves in a second; a
	// zero member means 12,000 reads and 4,000 writes.
	OnDemandStart Units
	// TableQuota is the account's limit for a table, and for each index; a zero
	// member means 40,000.
	TableQuota Units
	// NoTableLimits switches the limits of tables and indexes as a whole off and
	// leaves those of partitions.
	NoTableLimits bool
	// CoupledUnits makes reads and writes of a partition share one budget, as one
	// article of AWS says, in place of two.
	CoupledUnits bool
	// QuotaError makes a request over TableQuota fail with RequestLimitExceeded in
	// place of ThrottlingException.
	QuotaError bool
	// TransactionIndexUnits doubles the units of index writes made by transactions.
	TransactionIndexUnits bool
	// RefusedWriteBurnsTable makes a write refused by an index consume the table's
	// units all the same.
	RefusedWriteBurnsTable bool
	// IndexBacklog is how many writes an index partition without units still
	// accepts for later before it refuses; 0 refuses at once.
	IndexBacklog int
	// SplitForHeat lets a partition that stays hot split.
	SplitForHeat SplitForHeat

	// LagMin and LagMax bound the delay of each half of an index change. Both 0
	// means 10 ms and 200 ms; a negative LagMax means no lag at all.
	LagMin, LagMax time.Duration
	IndexOrder     IndexOrder

	// PageBytes is where a page ends; 0 means 1 MB. PageItems, when not 0, ends a
	// page after so many items.
	PageBytes, PageItems int

	// TableDelay is how long a table or index stays CREATING, UPDATING or
	// DELETING; 0 means no longer than the answer.
	TableDelay time.Duration
	// LogEntries is how many entries the operation log keeps; 0 means 16,384.
	LogEntries int
	// HeatKeys is how many keys a second of heat tells apart in one table or
	// index; 0 means 1,024.
	HeatKeys int
}

// SplitForHeat says when a hot partition splits. The zero value means never.
type SplitForHeat struct {
	// Share of the partition's ceiling that counts as hot; 0 means 0.8.
	Share float64
	// Minutes of sustained heat before a split; 0 switches splitting off.
	Minutes int
}

const (
	pageBytesMax      = 1 << 20
	itemBytesMax      = 400 << 10
	partitionsDefault = 4
	logEntriesDefault = 16 << 10
	heatKeysDefault   = 1 << 10
)

func (o Options) withDefaults() Options {
	o.Region = orDefault(o.Region, "us-east-1")
	o.Account = orDefault(o.Account, "123456789012")
	o.PartitionCeiling.Read = orDefault(o.PartitionCeiling.Read, 3000)
	o.PartitionCeiling.Write = orDefault(o.PartitionCeiling.Write, 1000)
	o.Partitions = orDefault(o.Partitions, partitionsDefault)
	o.OnDemandStart.Read = orDefault(o.OnDemandStart.Read, 12000)
	o.OnDemandStart.Write = orDefault(o.OnDemandStart.Write, 4000)
	o.TableQuota.Read = orDefault(o.TableQuota.Read, 40000)
	o.TableQuota.Write = orDefault(o.TableQuota.Write, 40000)
	o.SplitForHeat.Share = orDefault(o.SplitForHeat.Share, 0.8)
	if o.LagMin == 0 && o.LagMax == 0 {
		o.LagMin, o.LagMax = 10*time.Millisecond, 200*time.Millisecond
	}
	o.LagMin = min(o.LagMin, o.LagMax)
	o.PageBytes = orDefault(o.PageBytes, pageBytesMax)
	o.LogEntries = orDefault(o.LogEntries, logEntriesDefault)
	o.HeatKeys = orDefault(o.HeatKeys, heatKeysDefault)
	return o
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
