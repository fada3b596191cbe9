package shard_test

import (
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

func ExampleLayout() {
	sagas := shard.Layout{Index: "renewal-saga-person-index", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga", Count: 16}
	sortKey, err := sagas.SortKeyOf("person-2", time.Date(2026, 7, 10, 9, 30, 0, 0, time.UTC))
	if err != nil {
		panic(err)
	}
	fmt.Println(sagas.Key("person-2"), sortKey)
	// Output: RenewalSaga#8 person-2#2026-07-10T09:30:00.000Z
}

func ExampleRoutingFor() {
	a := shard.Layout{Index: "gsi4", PartitionKey: "GSI4PK", Base: "RenewalSaga"}
	b := a
	b.Count = 16
	r := shard.RoutingFor(shard.WriteNew, a, b, 3)
	fmt.Println(len(r.Read), "layouts are read; a new row of person-2 gets", r.Key("person-2"))
	// Output: 2 layouts are read; a new row of person-2 gets RenewalSaga#8
}
