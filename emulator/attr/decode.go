package attr

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
)

// DecodeItem reads the map of names to tagged values at src[pos] and says where
// it ends. The error is a *SyntaxError. A map that is well-formed and yet not a
// legal item is returned as an item that has an Err.
func DecodeItem(src []byte, pos int) (Item, int, error) {
	d := newDecoder(src, pos)
	defer d.free()
	if _, err := d.members(0); err != nil {
		return Item{}, d.pos, err
	}
	if fault := d.verdict(); fault != nil {
		return illegalItem(fault), d.pos, nil
	}
	return Item{string(d.out)}, d.pos, nil
}

// DecodeValue reads the tagged value at src[pos] and says where it ends. Its
// errors are those of DecodeItem.
func DecodeValue(src []byte, pos int) (Value, int, error) {
	d := newDecoder(src, pos)
	defer d.free()
	if _, err := d.value(0); err != nil {
		return Value{}, d.pos, err
	}
	if fault := d.verdict(); fault != nil {
		return illegal(fault), d.pos, nil
	}
	return Value{string(d.out)}, d.pos, nil
}

// decoder writes raw values to out as it reads them. It keeps the first fault
// and reads on, because bytes that are no JSON matter more than a value that is
// not legal, wherever they stand.
type decoder struct {
	scanner
	out   []byte
	spans []span
	name  []byte // of the member being read, where it does not go to out
	fault *InvalidError

	nameless, namelessWithin bool // an attribute of the item, or one in a map, has no name
}

// verdict is what is wrong about what was read. An attribute without a name comes
// before all other faults, and one inside of a map after them.
func (d *decoder) verdict() *InvalidError {
	switch {
	case d.nameless:
		return &InvalidError{Message: messageNoName, Older: messageNoName, Deep: d.fault != nil && d.fault.Deep}
	case d.fault == nil && d.namelessWithin:
		return invalid(messageNoName)
	}
	return d.fault
}

// span is where a field's name and value lie in out; the value's size is kept
// because it is known when the value was read.
type span struct {
	name, value, end int // out[name:value] and out[value:end]
	size             int
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// outKeptMax is the largest buffer that goes back to the pool.
const outKeptMax = 64 << 10

func newDecoder(src []byte, pos int) *decoder {
	d := decoders.Get().(*decoder)
	d.scanner = scanner{src, pos}
	return d
}

func (d *decoder) free() {
	if cap(d.out) > outKeptMax {
		return
	}
	*d = decoder{out: d.out[:0], spans: d.spans[:0], name: d.name[:0]}
	decoders.Put(d)
}

func (d *decoder) invalid(message string) { d.refuse(invalid(message)) }

func (d *decoder) refuse(fault *InvalidError) {
	if d.fault == nil {
		d.fault = fault
	}
}

// members reads a map of names to values and writes the raw item. depth counts
// the values around it.
func (d *decoder) members(depth int) (size int, err error) {
	if d.peek() != '{' {
		return 0, d.misplaced("java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>", "Unexpected field type")
	}
	d.pos++
	start, first := len(d.out), len(d.spans)
	for more := !d.accept('}'); more; {
		var f span
		f.name = len(d.out)
		if d.out, err = d.memberName(d.out); err != nil {
			return 0, err
		}
		f.value = len(d.out)
		switch n := f.value - f.name; {
		case n == 0:
			d.nameless, d.namelessWithin = d.nameless || depth == 0, true
		case n > nameBytesMax:
			d.invalid(messageNameSize)
		}
		if f.size, err = d.value(depth); err != nil {
			return 0, err
		}
		f.end = len(d.out)
		d.spans = append(d.spans, f)
		if more, err = d.more('}'); err != nil {
			return 0, err
		}
	}
	size = d.layOut(start, first)
	d.spans = d.spans[:first]
	return size, nil
}

// layOut turns the fields lying in out[start:] into a raw item at out[start:].
// Of fields with one name the last stays.
func (d *decoder) layOut(start, first int) (size int) {
	name := func(f span) []byte { return d.out[f.name:f.value] }
	fields := d.spans[first:]
	slices.SortStableFunc(fields, func(a, b span) int { return bytes.Compare(name(a), name(b)) })
	kept := fields[:0]
	for i, f := range fields {
		if i+1 < len(fields) && bytes.Equal(name(f), name(fields[i+1])) {
			continue
		}
		kept = append(kept, f)
		size += f.value - f.name + f.size
	}
	mark := len(d.out)
	d.out = binary.AppendUvarint(d.out, uint64(size))
	d.out = binary.AppendUvarint(d.out, uint64(len(kept)))
	for _, f := range kept {
		d.out = binary.AppendUvarint(d.out, uint64(f.value-f.name))
		d.out = append(d.out, d.out[f.name:f.value]...)
		d.out = binary.AppendUvarint(d.out, uint64(f.end-f.value))
		d.out = append(d.out, d.out[f.value:f.end]...)
	}
	d.out = d.out[:start+copy(d.out[start:], d.out[mark:])]
	return size
}

// value reads one tagged value and writes its raw form. depth counts the values
// around it. A value that is absent or illegal leaves a fault, and out holds
// something of no meaning.
func (d *decoder) value(depth int) (size int, err error) {
	if d.literal("null") {
		d.invalid(messageEmpty)
		return 0, nil
	}
	if d.peek() != '{' {
		return 0, d.misplaced("class com.amazonaws.dynamodb.v20120810.AttributeValue", "Unexpected value type in payload")
	}
	d.pos++
	start, kinds := len(d.out), 0
	for more := !d.accept('}'); more; {
		if d.name, err = d.memberName(d.name[:0]); err != nil {
			return 0, err
		}
		kind := ParseKind(string(d.name))
		switch {
		case d.literal("null"):
		case kind == KindNone:
			err = d.skip(0)
		default:
			kinds++
			d.out = d.out[:start]
			size, err = d.payload(kind, depth)
		}
		if err != nil {
			return 0, err
		}
		if more, err = d.more('}'); err != nil {
			return 0, err
		}
	}
	switch {
	case kinds == 0:
		d.invalid(messageEmpty)
	case kinds > 1:
		d.invalid(messageManyKinds)
	}
	return size, nil
}

func (d *decoder) payload(kind Kind, depth int) (size int, err error) {
	if (kind == KindL || kind == KindM) && depth >= DepthMax {
		d.invalid(messageNesting)
		if depth >= deepMin {
			d.fault.Deep = true
			return 0, d.skip(depth)
		}
	}
	switch kind {
	case KindS, KindN, KindB:
		return d.scalar(kind)
	case KindBOOL, KindNULL:
		return 1, d.truth(kind)
	case KindM:
		d.out = append(d.out, byte(kind))
		return d.mapPayload(depth)
	default:
		return d.elements(kind, depth)
	}
}

func (d *decoder) mapPayload(depth int) (size int, err error) {
	start := len(d.out)
	if size, err = d.members(depth + 1); err != nil {
		return 0, err
	}
	_, w := binary.Uvarint(d.out[start:])
	count, _ := binary.Uvarint(d.out[start+w:])
	return 3 + int(count) + size, nil
}

// elements reads a list or set.
func (d *decoder) elements(kind Kind, depth int) (size int, err error) {
	if err := d.openList(); err != nil {
		return 0, err
	}
	start, count := len(d.out), 0
	for more := !d.accept(']'); more; count++ {
		at, n := len(d.out), 0
		if kind == KindL {
			n, err = d.value(depth + 1)
			n++
		} else {
			n, err = d.scalar(kind.Element())
		}
		if err != nil {
			return 0, err
		}
		size += n
		d.prefixLength(at)
		if more, err = d.more(']'); err != nil {
			return 0, err
		}
	}
	head := binary.AppendUvarint([]byte{byte(kind)}, uint64(count))
	d.out = slices.Insert(d.out, start, head...)
	if kind == KindL {
		return size + 3, nil
	}
	if d.fault == nil {
		d.orderSet(kind, start)
	}
	return size, nil
}

func (d *decoder) openList() error {
	switch d.peek() {
	case '[':
		d.pos++
		return nil
	case '{':
		return &SyntaxError{"Start of structure or map found where not expected"}
	}
	if err := d.skip(0); err != nil {
		return err
	}
	return &SyntaxError{"Unexpected field type"}
}

// prefixLength puts the length of out[at:] in front of it.
func (d *decoder) prefixLength(at int) {
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(len(d.out)-at))
	d.out = slices.Insert(d.out, at, head[:n]...)
}
