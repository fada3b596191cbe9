package emulator_test

import (
	"runtime"
	"testing"
)

// A row of 300 bytes with one index entry stays under 1.5 KB.
func TestRowsStaySmall(t *testing.T) {
	const rows = 50_000
	before := heapBytes()
	db := loaded(t, rows)
	perRow := (heapBytes() - before) / rows
	runtime.KeepAlive(db)
	t.Logf("%d bytes a row", perRow)
	if perRow > 1500 {
		t.Errorf("%d bytes a row", perRow)
	}
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
