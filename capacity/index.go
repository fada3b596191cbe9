package capacity

// Entry is an item as one index sees it. The zero Entry is an item that is not
// in the index.
type Entry struct {
	Present bool
	// Key identifies the index key, partition and sort key together. Any spelling
	// will do in which equal keys are equal strings.
	Key string
	// Size is that of the base keys, the index keys and the projected attributes.
	Size int
}

// IndexCost is what one write of a base item costs on one index. Removed is
// charged where the old entry lies, Stored where the new one lies.
type IndexCost struct {
	Removed, Stored float64
}

// Units is the whole cost.
func (c IndexCost) Units() float64 { return c.Removed + c.Stored }

// Times multiplies the cost, for a transaction.
func (c IndexCost) Times(factor float64) IndexCost {
	return IndexCost{Removed: c.Removed * factor, Stored: c.Stored * factor}
}

// CostOfChange is the cost of turning old into new. same says that both images
// show equal attributes, in which case the index is not written at all.
//
// A changed key is two writes, a delete and a put: the index cannot move an
// entry. A change in place is charged on the larger of both images.
func CostOfChange(old, new Entry, same bool) IndexCost {
	switch {
	case !old.Present && !new.Present:
		return IndexCost{}
	case !old.Present:
		return IndexCost{Stored: WriteUnits(0, new.Size)}
	case !new.Present:
		return IndexCost{Removed: WriteUnits(old.Size, 0)}
	case old.Key != new.Key:
		return IndexCost{Removed: WriteUnits(old.Size, 0), Stored: WriteUnits(0, new.Size)}
	case same:
		return IndexCost{}
	default:
		return IndexCost{Stored: WriteUnits(old.Size, new.Size)}
	}
}
