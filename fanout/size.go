package fanout

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// readUnitBytes is what one read unit pays for, half a unit where the read is
// eventually consistent, as it always is on an index.
const readUnitBytes = 4096

// learn remembers the size of a row, by which later pages are cut to whole units.
func (r *Reader) learn(a answer) {
	if len(a.items) > 0 {
		r.rowBytes.Store(int64(itemBytes(a.items[0])))
	}
}

// rowsPerUnit is how many rows a read pays for at a time; 0 before any was seen.
func (r *Reader) rowsPerUnit() float64 {
	bytes := r.rowBytes.Load()
	if bytes == 0 {
		return 0
	}
	return readUnitBytes / float64(bytes)
}

// itemBytes is about what the service counts: names and values.
func itemBytes(item Item) int {
	n := 0
	for name, v := range item {
		n += len(name) + valueBytes(v)
	}
	return n
}

func valueBytes(v types.AttributeValue) int {
	n := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + itemBytes(v.Value)
	case *types.AttributeValueMemberL:
		n = 3
		for _, e := range v.Value {
			n += 1 + valueBytes(e)
		}
	case *types.AttributeValueMemberSS:
		for _, e := range v.Value {
			n += len(e)
		}
	case *types.AttributeValueMemberNS:
		for _, e := range v.Value {
			n += len(e)/2 + 2
		}
	case *types.AttributeValueMemberBS:
		for _, e := range v.Value {
			n += len(e)
		}
	default:
		return 1
	}
	return n
}
