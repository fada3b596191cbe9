package capacity

// Sizes that units are counted in, in bytes.
const (
	ReadUnitBytes  = 4096
	WriteUnitBytes = 1024
)

// Consistency is the kind of a read.
type Consistency uint8

// The zero Consistency is the service's default for GetItem, Query and Scan.
const (
	Eventual Consistency = iota
	Strong
	Transactional
)

// Factor is what one read of up to 4 KB costs.
func (c Consistency) Factor() float64 {
	switch c {
	case Strong:
		return 1
	case Transactional:
		return 2
	default:
		return 0.5
	}
}

// blocks counts blocks of size in n bytes; nothing is free, so at least one.
func blocks(n, size int) float64 { return float64(max(1, (n+size-1)/size)) }

// ReadUnits is the cost of reading one item; size 0 is an absent item. The items
// of a batch are rounded one by one and then summed.
func ReadUnits(size int, c Consistency) float64 {
	return blocks(size, ReadUnitBytes) * c.Factor()
}

// PageUnits is the cost of one page of Query or Scan that evaluated size bytes:
// rounded once, with a floor for every physical partition touched, empty ones
// included.
func PageUnits(size, partitions int, c Consistency) float64 {
	return max(blocks(size, ReadUnitBytes), float64(partitions)) * c.Factor()
}

// WriteUnits is the cost of a put or an update, counted on the larger of the
// item before and after. A delete is WriteUnits(size, 0).
func WriteUnits(before, after int) float64 {
	return blocks(max(before, after), WriteUnitBytes)
}

// TransactionFactor is what a transaction multiplies write units by: one set to
// prepare, one to commit.
const TransactionFactor = 2

// ConditionFailedUnits is the cost of a write whose condition failed: counted on
// the larger of the existing and the attempted item, 1 when there is none.
func ConditionFailedUnits(existing, attempted int) float64 {
	if existing == 0 {
		return 1
	}
	return WriteUnits(existing, attempted)
}
