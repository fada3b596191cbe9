// Command renewald knows how to run the renewals application: its pages, sweeps
// and inbound routes, and the traffic that tries them.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
)

// Exit codes, the same as hotsplit's.
const (
	exitDone        = 0
	exitWrong       = 1
	exitUsage       = 2
	exitUnknown     = 3
	exitInterrupted = 130
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	root := newRootCmd()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintln(os.Stderr, "renewald:", err)
	return exitCode(ctx, err)
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use: "renewald", Short: "lease renewals on a sharded DynamoDB index", SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error { return serve(cmd, args) },
		Args: noArguments,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	addServeFlags(root)
	root.AddCommand(newServeCmd(), newSweepCmd(), newLoadCmd(), newLeasesCmd())
	return root
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func noArguments(cmd *cobra.Command, args []string) error {
	if err := cobra.NoArgs(cmd, args); err != nil {
		return &usageError{err}
	}
	return nil
}

func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &usage), errors.Is(err, app.ErrOptions), errors.Is(err, app.ErrNoSweep):
		return exitUsage
	case errors.Is(err, errLoadFailed):
		return exitWrong
	default:
		return exitUnknown
	}
}
