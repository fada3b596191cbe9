package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/cmd/renewald/automation"
	"github.com/hotsplit/hotsplit/cmd/renewald/portfolio"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/renewal/web"
	"github.com/hotsplit/hotsplit/shard"
)

// App is one process of the renewals application. Make it with New, then Run it
// or Close it.
type App struct {
	options    Options
	clients    clients
	meter      *meter
	telemetry  *telemetry
	watcher    *migrate.Watcher
	ledger     *migrate.Ledger
	store      *dynamostore.Store
	sweepStore *dynamostore.Store
	portfolio  *portfolio.Portfolio
	automation *automation.Automation
	board      *board
	sweeps     *sweeps
	leases     jobLease
	server     *http.Server
	listener   net.Listener
	demo       *demo
	stopping   atomic.Bool
}

// New puts the application together and listens, without answering yet. What it
// started stops with Run, or with Close.
func New(ctx context.Context, options Options) (*App, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	a := &App{options: options, meter: &meter{}}
	if err := a.assemble(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) assemble(ctx context.Context) (err error) {
	if a.telemetry, err = newTelemetry(a.options.Log); err != nil {
		return err
	}
	var db *emulator.DB
	if a.options.Demo {
		if a.demo, err = newDemo(a.options); err != nil {
			return err
		}
		db = a.demo.db
	}
	if a.clients, err = connect(ctx, a.options, db, a.meter.client); err != nil {
		return err
	}
	if a.options.CreateTable {
		if err := dynamostore.CreateTable(ctx, a.clients.record, a.options.Table, a.options.Layout(), a.options.Warm); err != nil {
			return err
		}
	}
	if a.demo != nil {
		if err := a.demo.fill(ctx, a.clients.record, a.options); err != nil {
			return err
		}
	}
	if err := a.stores(ctx); err != nil {
		return err
	}
	return a.serveOn()
}

// stores opens the routing and what is read and written through it.
func (a *App) stores(ctx context.Context) error {
	routing := dynamostore.Static(shard.Static(a.options.Layout()))
	if a.options.Move != "" {
		var err error
		spec := a.options.Spec()
		if a.watcher, err = migrate.Watch(ctx, a.clients.record, spec, migrate.WatchOptions{Role: "renewald"}); err != nil {
			return err
		}
		if a.ledger, err = migrate.OpenLedger(a.clients.record, spec); err != nil {
			return err
		}
		routing = Watched(a.watcher)
	}
	options := dynamostore.Options{Spent: a.spent, Read: fanout.Options{InFlight: a.options.InFlight}}
	a.store = dynamostore.New(a.clients.pages, a.options.Table, routing, options)
	a.sweepStore = dynamostore.New(a.clients.sweeps, a.options.Table, routing, options)
	a.portfolio = portfolio.New(a.clients.automation, a.options.Table)
	host, _ := os.Hostname()
	a.leases = jobLease{client: a.clients.sweeps, table: a.options.Table, holder: fmt.Sprintf("%s-%d-%d", host, os.Getpid(), time.Now().UnixNano())}
	a.board = newBoard(a.store, a.options.Fresh)
	a.sweeps = newSweeps(a)
	return a.telemetry.observe(a.board, a.meter, a.sweeps)
}

// spent tells everybody who counts what was spent on a key of the index.
func (a *App) spent(key string, read, write float64) {
	a.meter.spent(key, read, write)
	a.telemetry.spent(key, read, write)
	if a.watcher != nil {
		a.watcher.Count(key, read, write)
	}
}

func (a *App) serveOn() error {
	if a.options.Temporal != "" {
		ctx, cancel := context.WithTimeout(context.Background(), temporalConnectMax)
		defer cancel()
		var err error
		with := a.options.Automation
		with.Address, with.Log, with.Portfolio = a.options.Temporal, a.options.Log, a.portfolio
		with.Store = dynamostore.New(a.clients.automation, a.options.Table, a.storeRouting(), dynamostore.Options{Spent: a.spent})
		if a.automation, err = automation.Start(ctx, with); err != nil {
			return err
		}
	}
	pages, err := web.New(web.Options{
		Store: a.store, Board: a.board.look, Access: a.options.Access, Ops: a.ops, Ready: a.ready,
		Metrics: a.telemetry.handler, Automation: a.automationWord(), Log: a.options.Log,
		Poll: a.options.Poll, StaleAfter: a.options.StaleAfter,
		Move: func(ctx context.Context, s renewal.Saga, c renewal.Change) (renewal.Saga, error) {
			return a.move(ctx, a.store, s, c)
		},
	})
	if err != nil {
		return err
	}
	a.server = &http.Server{
		Handler: a.telemetry.watch(pages), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	if a.listener, err = net.Listen("tcp", a.options.Listen); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

const temporalConnectMax = 15 * time.Second

func (a *App) storeRouting() dynamostore.Routing {
	if a.watcher != nil {
		return Watched(a.watcher)
	}
	return dynamostore.Static(shard.Static(a.options.Layout()))
}

func (a *App) automationWord() string {
	if a.automation == nil {
		return "Automation is off"
	}
	return "Automation is on"
}

// Addr is where the application answers, HOST:PORT.
func (a *App) Addr() string { return a.listener.Addr().String() }

// Endpoint is where the demo's emulator answers over HTTP; "" without a demo.
func (a *App) Endpoint() string {
	if a.demo == nil {
		return ""
	}
	return a.demo.endpoint()
}

// Emulator is the demo's; nil without one.
func (a *App) Emulator() *emulator.DB {
	if a.demo == nil {
		return nil
	}
	return a.demo.db
}

// Store is the application's sagas.
func (a *App) Store() renewal.Store { return a.store }

// Portfolio is the leases beside the sagas.
func (a *App) Portfolio() *portfolio.Portfolio { return a.portfolio }

// Run answers requests and runs the sweeps until ctx ends, and then stops what
// it started: first the sweeps, then requests in hand, then the rest.
func (a *App) Run(ctx context.Context) error {
	defer a.Close()
	running, stop := context.WithCancel(ctx)
	defer stop()
	g, running := errgroup.WithContext(running)
	g.Go(func() error {
		a.board.keep(running)
		return nil
	})
	g.Go(func() error {
		_, _ = a.board.now(running) // so that ready has something to say; what went wrong it says itself
		return nil
	})
	if !a.options.NoSweeps {
		scheduler, err := a.sweeps.schedule(running)
		if err != nil {
			stop()
			return errors.Join(err, g.Wait())
		}
		g.Go(func() error {
			<-running.Done()
			return scheduler.Shutdown()
		})
	}
	g.Go(func() error {
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve %s: %w", a.Addr(), err)
		}
		return nil
	})
	g.Go(func() error {
		<-running.Done()
		a.stopping.Store(true)
		last, cancel := context.WithTimeout(context.WithoutCancel(running), stopMax)
		defer cancel()
		return a.server.Shutdown(last)
	})
	return g.Wait()
}

// stopMax bounds how long requests in hand may take when the application stops.
const stopMax = 10 * time.Second

// Sweep runs one sweep now, whatever its schedule.
func (a *App) Sweep(ctx context.Context, name string) (string, error) {
	return a.sweeps.byHand(ctx, name)
}

// Close stops what New started. It may be called more than once.
func (a *App) Close() {
	if a.listener != nil {
		_ = a.listener.Close()
	}
	if a.automation != nil {
		a.automation.Close()
		a.automation = nil
	}
	if a.board != nil {
		a.board.close()
	}
	if a.watcher != nil {
		_ = a.watcher.Close()
	}
	if a.demo != nil {
		a.demo.close()
	}
	if a.telemetry != nil {
		a.telemetry.close(context.Background())
	}
}
