package emulator

import "github.com/hotsplit/hotsplit/capacity"

// bill adds up what a request costs on one table, for its answer.
type bill struct {
	named string // the table as the request spelled it
	level string // ReturnConsumedCapacity
	table Units
	parts []indexUnits
}

type indexUnits struct {
	ix *index
	Units
}

// add does nothing when nobody asked for the bill.
func (b *bill) add(costs []cost) {
	if b.level != "TOTAL" && b.level != "INDEXES" {
		return
	}
	for i := range costs {
		u := b.of(costs[i].ix)
		if costs[i].direction == capacity.Write {
			u.Write += costs[i].units
		} else {
			u.Read += costs[i].units
		}
	}
}

func (b *bill) of(ix *index) *Units {
	if ix == nil {
		return &b.table
	}
	for i := range b.parts {
		if b.parts[i].ix == ix {
			return &b.parts[i].Units
		}
	}
	b.parts = append(b.parts, indexUnits{ix: ix})
	return &b.parts[len(b.parts)-1].Units
}

func (u Units) sum() float64 { return u.Read + u.Write }

// consumed is the ConsumedCapacity that was asked for. A transaction also splits
// it into reads and writes.
func (b *bill) consumed(transaction bool) *ConsumedCapacity {
	if b.level != "TOTAL" && b.level != "INDEXES" {
		return nil
	}
	total := b.table
	for _, p := range b.parts {
		total.Read += p.Read
		total.Write += p.Write
	}
	c := &ConsumedCapacity{TableName: b.named, CapacityUnits: total.sum()}
	if transaction {
		c.ReadCapacityUnits, c.WriteCapacityUnits = split(total)
	}
	if b.level == "TOTAL" {
		return c
	}
	table := capacityOf(b.table, transaction)
	c.Table = &table
	for _, p := range b.parts {
		m := &c.GlobalSecondaryIndexes
		if p.ix.local {
			m = &c.LocalSecondaryIndexes
		}
		if *m == nil {
			*m = map[string]Capacity{}
		}
		(*m)[p.ix.name] = capacityOf(p.Units, transaction)
	}
	return c
}

func capacityOf(u Units, transaction bool) Capacity {
	c := Capacity{CapacityUnits: u.sum()}
	if transaction {
		c.ReadCapacityUnits, c.WriteCapacityUnits = split(u)
	}
	return c
}

// split names only the directions in which units were consumed.
func split(u Units) (read, write *float64) {
	if u.Read > 0 {
		read = new(u.Read)
	}
	if u.Write > 0 {
		write = new(u.Write)
	}
	return read, write
}
