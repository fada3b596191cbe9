// Package automation knows how renewald runs renewals on Temporal: the worker,
// the walker's schedule, the health comparison, and the way in for requests.
package automation

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/hotsplit/hotsplit/cmd/renewald/portfolio"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// Options says where Temporal is and what the worker works on. Address, Store
// and Portfolio are required.
type Options struct {
	Address      string // HOST:PORT
	Namespace    string // "" means "default"
	Store        renewal.Store
	Portfolio    *portfolio.Portfolio
	Renewals     temporalsaga.Options
	Schedule     temporalsaga.Schedule
	Settled      time.Duration // how long a difference must stand before it is a finding; 0 means 1 min
	Stuck        time.Duration // how long a renewal may do nothing in a state of its own; 0 means 15 min
	Interceptors []interceptor.WorkerInterceptor
	Log          *slog.Logger // nil means the default
}

// Automation is a running worker with its connection.
type Automation struct {
	options  Options
	temporal client.Client
	worker   worker.Worker
	renewals *temporalsaga.Client
}

// stopMax is how long a stopping worker waits for activities in hand.
const stopMax = 5 * time.Second

// Start connects, registers search attributes and schedule, and starts the
// worker. It fails when Temporal cannot be reached; pages work without it.
func Start(ctx context.Context, options Options) (*Automation, error) {
	options = options.withDefaults()
	connection, err := client.DialContext(ctx, client.Options{
		HostPort: options.Address, Namespace: options.Namespace, Logger: sdklog.NewStructuredLogger(options.Log),
	})
	if err != nil {
		return nil, fmt.Errorf("connect to temporal %s: %w", options.Address, err)
	}
	a := &Automation{
		options: options, temporal: connection,
		renewals: temporalsaga.NewClient(connection, options.Namespace, options.Renewals),
	}
	if err := a.prepare(ctx); err != nil {
		connection.Close()
		return nil, err
	}
	return a, nil
}

func (o Options) withDefaults() Options {
	if o.Namespace == "" {
		o.Namespace = "default"
	}
	if o.Settled == 0 {
		o.Settled = time.Minute
	}
	if o.Stuck == 0 {
		o.Stuck = 15 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

func (a *Automation) prepare(ctx context.Context) error {
	if err := a.renewals.EnsureAttributes(ctx); err != nil {
		return err
	}
	if err := a.renewals.EnsureSchedule(ctx, a.options.Schedule); err != nil {
		return err
	}
	a.worker = worker.New(a.temporal, a.renewals.TaskQueue(), worker.Options{
		Interceptors: a.options.Interceptors, WorkerStopTimeout: stopMax,
	})
	temporalsaga.Register(a.worker, &temporalsaga.Activities{
		Store: a.options.Store, Leases: a.options.Portfolio, Letters: a.options.Portfolio, Client: a.renewals,
	})
	if err := a.worker.Start(); err != nil {
		return fmt.Errorf("start worker on %s: %w", a.options.Address, err)
	}
	return nil
}

// Renewals reaches the running renewals.
func (a *Automation) Renewals() *temporalsaga.Client { return a.renewals }

// Ready says whether Temporal answers.
func (a *Automation) Ready(ctx context.Context) error {
	if _, err := a.temporal.CheckHealth(ctx, nil); err != nil {
		return fmt.Errorf("ask temporal %s for its health: %w", a.options.Address, err)
	}
	return nil
}

// Close lets activities in hand finish and disconnects.
func (a *Automation) Close() {
	a.worker.Stop()
	a.temporal.Close()
}
