package app

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/cmd/renewald/automation"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/renewal/web"
	"github.com/hotsplit/hotsplit/shard"
)

// Options is what the flags say. The zero value is AWS by the standard
// configuration, on 127.0.0.1:8080, with 16 shards that deploys alone change.
type Options struct {
	Listen   string // "" means 127.0.0.1:8080; port 0 takes a free one
	Endpoint string // of DynamoDB; "" is AWS
	Region   string // "" is the standard configuration's
	Table    string // "" means propflow

	// Shards is how many keys sagas are spread over under a static routing; -1 is
	// the one old key, 0 means 16. With Move it is the layout that the move goes
	// to, until there is a record.
	Shards int
	Move   string // name of the hotsplit move to take part in; "" is a static routing

	CreateTable bool
	Warm        dynamostore.Warm

	Demo         bool             // an emulator in this process, filled with a portfolio
	DemoSagas    int              // 0 means 320
	DemoEndpoint string           // where the emulator answers over HTTP; "" means 127.0.0.1:0
	Emulator     emulator.Options // of the demo

	Temporal   string             // HOST:PORT; "" is no automation
	Automation automation.Options // terms, schedule and the like; address, store, portfolio and log are filled in
	Access     web.Access

	NoSweeps   bool
	SweepScale float64       // shortens the sweeps' periods: 0.1 is ten times as often; 0 means 1
	Rules      renewal.Rules // of the sweeps
	Fresh      time.Duration // age from which on the board is loaded anew; 0 means 3 s
	Poll       time.Duration // of browsers; 0 means 4 s
	StaleAfter time.Duration // age from which on pages call the list old; 0 means 15 s
	InFlight   *fanout.InFlight

	Log *slog.Logger // nil means the default
}

func (o Options) withDefaults() Options {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:8080")
	o.Table = cmp.Or(o.Table, "propflow")
	o.Shards = cmp.Or(o.Shards, 16)
	o.DemoSagas = cmp.Or(o.DemoSagas, 320)
	o.DemoEndpoint = cmp.Or(o.DemoEndpoint, "127.0.0.1:0")
	o.SweepScale = cmp.Or(o.SweepScale, 1)
	o.Fresh = cmp.Or(o.Fresh, 3*time.Second)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Demo {
		o.CreateTable, o.Region = true, cmp.Or(o.Region, "us-east-1")
	}
	return o
}

// ErrOptions is wrapped by every error about options that do not go together.
// Do not retry; correct the flags.
var ErrOptions = errors.New("app: options do not go together")

func (o Options) validate() error {
	var faults []error
	fault := func(bad bool, text string) {
		if bad {
			faults = append(faults, fmt.Errorf("%w: %s", ErrOptions, text))
		}
	}
	fault(o.Demo && o.Endpoint != "", "--demo has its own endpoint")
	fault(o.Access.Open && !o.Demo, "writes without a role need --demo")
	fault(o.Shards > shard.CountMax || o.Shards < -1, "--shards is out of range")
	fault(o.SweepScale < 0, "the sweep scale is negative")
	_, port, err := net.SplitHostPort(o.Listen)
	fault(err != nil || port == "", "--listen is not HOST:PORT")
	fault(strings.ContainsAny(o.Move, "# "), "--move is not a name")
	return errors.Join(faults...)
}

// Legacy is the layout that the ADR found: every saga under one key.
func Legacy() shard.Layout {
	return shard.Layout{Index: "renewal-saga-person-index", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga"}
}

// Layout is the layout that the options ask for.
func (o Options) Layout() shard.Layout {
	l := Legacy()
	l.Count = max(o.Shards, 0)
	return l
}

// Spec is the move that the application takes part in.
func (o Options) Spec() migrate.Spec {
	to := o.Layout()
	if to.Count == 0 {
		to.Count = 16
	}
	return migrate.Spec{
		Name: o.Move, Table: o.Table, Key: []string{"PK", "SK"}, Owner: "personId",
		Entity: migrate.Entity{Attribute: "entityType", Value: "RenewalSaga"},
		From:   Legacy(), To: to,
	}
}
