package attr

import (
	"encoding/binary"
	"slices"
	"strings"
)

// spell writes the error as the payload of an illegal value.
func (e *InvalidError) spell() string {
	var payload []byte
	for _, text := range []string{e.Message, e.Older} {
		payload = append(binary.AppendUvarint(payload, uint64(len(text))), text...)
	}
	if e.Deep {
		payload = append(payload, 1)
	}
	return string(payload)
}

// parseFault reads what spell wrote.
func parseFault(payload string) *InvalidError {
	e := new(InvalidError)
	for _, text := range []*string{&e.Message, &e.Older} {
		size, w := uvarint(payload)
		*text, payload = payload[w:w+size], payload[w+size:]
	}
	e.Deep = payload != ""
	return e
}

// orderSet puts the set at out[start:] in order. It refuses empty sets and sets
// that hold an element twice.
func (d *decoder) orderSet(kind Kind, start int) {
	sent := slices.Collect(Value{string(d.out[start:])}.All())
	if len(sent) == 0 {
		d.invalid(map[Kind]string{KindSS: messageEmptySS, KindNS: messageEmptyNS, KindBS: messageEmptyBS}[kind])
		return
	}
	sorted := inOrder(sent)
	for i := range sorted[1:] {
		if sorted[i] == sorted[i+1] {
			d.refuse(duplicates(kind, sent))
			return
		}
	}
	if &sorted[0] != &sent[0] {
		d.out = append(d.out[:start], sequence(kind, sorted).raw...)
	}
}

// duplicates words the fault in both ways. The newer one quotes the elements, in
// their order as far as the first that comes again.
func duplicates(kind Kind, elements []Value) *InvalidError {
	older, newer := make([]string, len(elements)), make([]string, len(elements))
	for i, e := range elements {
		older[i] = spellElement(kind, e)
	}
	for i, e := range upToRepeat(elements) {
		newer[i] = `"` + spellElement(kind, e) + `"`
	}
	switch kind {
	case KindSS:
		return &InvalidError{
			Message: parametersInvalid + "Input collection [" + strings.Join(newer, ", ") + "] contains duplicates.",
			Older:   parametersInvalid + "Input collection [" + strings.Join(older, ", ") + "] contains duplicates.",
		}
	case KindBS:
		return &InvalidError{
			Message: parametersInvalid + "Input collection [" + strings.Join(newer, ",") + "]of type BS contains duplicates.",
			Older:   parametersInvalid + "Input collection [" + strings.Join(older, ", ") + "]of type BS contains duplicates.",
		}
	}
	return &InvalidError{Message: messageTwice, Older: messageDuplicates}
}

// upToRepeat sorts the elements before the first that was there already.
func upToRepeat(elements []Value) []Value {
	sorted := slices.Clone(elements)
	for i, e := range sorted {
		if slices.Contains(elements[:i], e) {
			slices.SortFunc(sorted[:i], func(a, b Value) int { return strings.Compare(a.Text(), b.Text()) })
			break
		}
	}
	return sorted
}
