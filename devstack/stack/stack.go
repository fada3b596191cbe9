// Package stack knows how to run everything in one process: an emulated
// DynamoDB, a Temporal server, and the renewals application on both.
package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/cmd/renewald/automation"
	"github.com/hotsplit/hotsplit/devstack/temporalserver"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/renewal/web"
)

// Options says what to start. The zero value is 16 keys, a portfolio of 320
// renewals, free ports and nothing kept.
type Options struct {
	Listen       string // of the pages; "" means a free port
	Endpoint     string // of the emulated DynamoDB; "" means a free port
	TemporalPort int    // 0 means a free one
	TemporalFile string // SQLite file that keeps workflows; "" keeps them in memory

	// Hot starts on the one old key, and with partitions small enough for one
	// laptop's traffic to be too much for it.
	Hot bool
	// Ceiling is what a partition serves in a second when Hot; a zero member means
	// that of HotCeiling.
	Ceiling emulator.Units

	Sagas      int // 0 means 320
	Automation automation.Options
	SweepScale float64 // 0 means 0.2: each sweep within minutes
	Log        *slog.Logger
}

// HotCeiling is a partition 75 times smaller than production's 3,000 reads and
// 1,000 writes a second, so that a laptop's traffic stands for an estate's.
var HotCeiling = emulator.Units{Read: 40, Write: 13}

// MoveName is the hotsplit move that the application takes part in; renewal-saga.yaml
// in devstack describes it.
const MoveName = "renewal-saga"

// Stack is what runs.
type Stack struct {
	Temporal *temporalserver.Server
	App      *app.App
	stop     context.CancelFunc
	done     chan error
}

// Start starts the parts in the order in which they need each other, and returns
// when the pages answer.
func Start(ctx context.Context, options Options) (*Stack, error) {
	temporal, err := temporalserver.Start(temporalserver.Options{File: options.TemporalFile, Port: options.TemporalPort})
	if err != nil {
		return nil, err
	}
	a, err := app.New(ctx, options.application(temporal.Address()))
	if err != nil {
		return nil, errors.Join(err, temporal.Stop())
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &Stack{Temporal: temporal, App: a, stop: stop, done: make(chan error, 1)}
	go func() { s.done <- a.Run(running) }()
	return s, nil
}

func (o Options) application(temporal string) app.Options {
	a := app.Options{
		Listen: o.Listen, DemoEndpoint: o.Endpoint, Demo: true, DemoSagas: o.Sagas, Access: web.Access{Open: true},
		Temporal: temporal, Automation: o.Automation, SweepScale: o.SweepScale, Log: o.Log, Shards: 16,
	}
	if a.Listen == "" {
		a.Listen = "127.0.0.1:0"
	}
	if a.SweepScale == 0 {
		a.SweepScale = 0.2
	}
	if o.Hot {
		a.Shards, a.Move = -1, MoveName
		a.Emulator = emulator.Options{Placement: emulator.PlacementIsolated, NoTableLimits: true, PartitionCeiling: o.ceiling()}
	}
	return a
}

func (o Options) ceiling() emulator.Units {
	c := o.Ceiling
	if c.Read == 0 {
		c.Read = HotCeiling.Read
	}
	if c.Write == 0 {
		c.Write = HotCeiling.Write
	}
	return c
}

// Pages is the application's address, http://HOST:PORT.
func (s *Stack) Pages() string { return "http://" + s.App.Addr() }

// stopMax is how long the application may take to stop before the server under
// it is taken away.
const stopMax = 20 * time.Second

// Stop stops the application and then the Temporal server.
func (s *Stack) Stop() error {
	s.stop()
	var err error
	select {
	case err = <-s.done:
	case <-time.After(stopMax):
		err = fmt.Errorf("stop application: still running after %v", stopMax)
	}
	return errors.Join(err, s.Temporal.Stop())
}

// Done ends when the application has stopped by itself; the error says why.
func (s *Stack) Done() <-chan error { return s.done }
