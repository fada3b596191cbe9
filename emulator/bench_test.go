package emulator_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

// loaded is a rig with rows of about 300 bytes, spread over n/179 index keys.
func loaded(tb testing.TB, n int) *emulator.DB {
	db := rig(tb, emulator.Options{Unlimited: true, LagMax: -1})
	free := attr.String(strings.Repeat("x", 200))
	for i := range n {
		item := row(i, fmt.Sprintf("RenewalSaga#%d", i/179)).With("free", free)
		if _, err := db.PutItem(tb.Context(), &emulator.PutItemInput{TableName: new("rig"), Item: item}); err != nil {
			tb.Fatal(err)
		}
	}
	return db
}

func BenchmarkGet(b *testing.B) {
	db := loaded(b, 10_000)
	in := &emulator.GetItemInput{TableName: new("rig"), Key: rowKey(77)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.GetItem(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	db := loaded(b, 10_000)
	items := [2]attr.Item{row(77, "RenewalSaga#0").With("v", attr.Int(1)), row(77, "RenewalSaga#0").With("v", attr.Int(2))}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := db.PutItem(context.Background(), &emulator.PutItemInput{TableName: new("rig"), Item: items[i%2]}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	db := loaded(b, 10_000)
	for _, limit := range []int{3, 179} {
		b.Run(fmt.Sprint(limit), func(b *testing.B) {
			in := &emulator.QueryInput{
				TableName: new("rig"), IndexName: new("GSI4"), KeyConditionExpression: new("GSI4PK = :k"),
				Expressions: emulator.Expressions{Values: map[string]attr.Value{":k": attr.String("RenewalSaga#9")}},
				Limit:       &limit,
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := db.Query(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRows prints what a row of 300 bytes with one index entry takes.
func BenchmarkRows(b *testing.B) {
	const rows = 1_000_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	db := loaded(b, rows)
	took := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		runtime.KeepAlive(db)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/rows, "B/row")
	b.ReportMetric(took.Seconds(), "load-s")
}
