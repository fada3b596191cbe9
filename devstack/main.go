// Command devstack runs the whole stack in one process: an emulated DynamoDB, a
// Temporal server and the renewals application, with a portfolio to look at.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hotsplit/hotsplit/cmd/renewald/load"
	"github.com/hotsplit/hotsplit/devstack/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "devstack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("devstack", flag.ContinueOnError)
	options := stack.Options{}
	flags.StringVar(&options.Listen, "listen", "127.0.0.1:8080", "address of the pages")
	flags.StringVar(&options.Endpoint, "dynamodb", "127.0.0.1:8000", "address of the emulated DynamoDB")
	flags.IntVar(&options.TemporalPort, "temporal", 7233, "first of eight ports of the Temporal server; 0 takes free ones")
	flags.StringVar(&options.TemporalFile, "temporal-file", "", "SQLite file that keeps the workflows; empty keeps them in memory")
	flags.BoolVar(&options.Hot, "hot", false, "start on the one old key, under load")
	flags.IntVar(&options.Sagas, "sagas", 320, "renewals in the portfolio")
	pages := flags.Int("pages", 40, "with --hot: browsers that poll")
	verbose := flags.Bool("v", false, "log what the application does")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	options.Log = slog.New(slog.DiscardHandler)
	if *verbose {
		options.Log = slog.New(slog.NewJSONHandler(os.Stderr, nil))
	}
	s, err := stack.Start(ctx, options)
	if err != nil {
		return err
	}
	announce(out, s, options.Hot)
	if options.Hot {
		go traffic(ctx, out, s.Pages(), *pages)
	}
	select {
	case <-ctx.Done():
	case err := <-s.Done():
		return errors.Join(err, s.Temporal.Stop())
	}
	return s.Stop()
}

func announce(out io.Writer, s *stack.Stack, hot bool) {
	fmt.Fprintf(out, "renewals   %s/leasing/renewals\n", s.Pages())
	fmt.Fprintf(out, "ops        %s/ops\n", s.Pages())
	fmt.Fprintf(out, "dynamodb   %s   (emulator with a console; any credentials)\n", s.App.Endpoint())
	fmt.Fprintf(out, "temporal   %s   (namespace %s)\n", s.Temporal.Address(), s.Temporal.Namespace())
	if hot {
		fmt.Fprintf(out, "\nEverything is on one key, and too much for it. To move it, in another terminal:\n"+
			"  go run ../cmd/hotsplit move --spec renewal-saga.yaml --endpoint %s\n", s.App.Endpoint())
	}
}

// round is how often the traffic reports what its users saw.
const round = 30 * time.Second

func traffic(ctx context.Context, out io.Writer, base string, pages int) {
	for seed := uint64(1); ctx.Err() == nil; seed++ {
		report, err := load.Run(ctx, load.Options{Base: base, Pages: pages, Inbound: 20, Moves: 5, For: round, Seed: seed})
		if ctx.Err() != nil {
			return
		}
		fmt.Fprintf(out, "\n%s of traffic until %s\n", round, time.Now().Format(time.TimeOnly))
		if err != nil {
			fmt.Fprintln(out, err)
			continue
		}
		fmt.Fprint(out, report)
	}
}
