package awsjson

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// writer appends JSON to buf. It puts the comma in front of each member and
// element that is not the first of its object or list.
type writer struct{ buf []byte }

// open begins an object or a list, close ends it.
func (w *writer) open(c byte)  { w.buf = append(w.buf, c) }
func (w *writer) close(c byte) { w.buf = append(w.buf, c) }

// comma separates from what stands before.
func (w *writer) comma() {
	if last := w.buf[len(w.buf)-1]; last != '{' && last != '[' && last != ':' {
		w.buf = append(w.buf, ',')
	}
}

// member begins a member whose name needs no escapes.
func (w *writer) member(name string) {
	w.comma()
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

// key begins a member of any name.
func (w *writer) key(name string) {
	w.comma()
	w.buf = append(attr.AppendStringJSON(w.buf, name), ':')
}

func (w *writer) quoted(text string) { w.buf = attr.AppendStringJSON(w.buf, text) }

func (w *writer) string(name, value string) {
	w.member(name)
	w.quoted(value)
}

// text writes a string unless it is empty.
func (w *writer) text(name, value string) {
	if value != "" {
		w.string(name, value)
	}
}

func (w *writer) int(name string, n int64) {
	w.member(name)
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

func (w *writer) float(name string, f float64) {
	w.member(name)
	w.number(f)
}

// number writes a whole number with its fraction, as the service does.
func (w *writer) number(f float64) {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		w.buf = strconv.AppendFloat(w.buf, f, 'f', 1, 64)
		return
	}
	w.buf = strconv.AppendFloat(w.buf, f, 'f', -1, 64)
}

func (w *writer) bool(name string, b bool) {
	w.member(name)
	w.buf = strconv.AppendBool(w.buf, b)
}

// time writes epoch seconds.
func (w *writer) time(name string, t time.Time) {
	w.member(name)
	w.buf = strconv.AppendFloat(w.buf, float64(t.UnixMilli())/1000, 'f', 3, 64)
}

// item writes an item unless there is none.
func (w *writer) item(name string, i attr.Item) {
	if i.IsNil() {
		return
	}
	w.member(name)
	w.buf = attr.AppendJSON(w.buf, i)
}

func (w *writer) items(name string, items []attr.Item) {
	w.member(name)
	w.itemList(items)
}

func (w *writer) itemList(items []attr.Item) {
	w.open('[')
	for i, item := range items {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = attr.AppendJSON(w.buf, item)
	}
	w.close(']')
}

// list writes a list of objects.
func list[T any](w *writer, name string, elements []T, members func(*writer, *T)) {
	w.member(name)
	objects(w, elements, members)
}

func objects[T any](w *writer, elements []T, members func(*writer, *T)) {
	w.open('[')
	for i := range elements {
		w.comma()
		w.open('{')
		members(w, &elements[i])
		w.close('}')
	}
	w.close(']')
}

// mapped writes a map of objects in the order of its keys.
func mapped[T any](w *writer, name string, m map[string]T, members func(*writer, *T)) {
	if m == nil {
		return
	}
	w.member(name)
	w.open('{')
	for _, key := range sortedKeys(m) {
		w.key(key)
		w.open('{')
		v := m[key]
		members(w, &v)
		w.close('}')
	}
	w.close('}')
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
