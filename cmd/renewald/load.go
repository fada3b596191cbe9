package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/cmd/renewald/load"
)

// errLoadFailed: some answers were none, or errors that nobody should see. Look
// at the server's log.
var errLoadFailed = errors.New("the server failed requests")

func newLoadCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "load", Short: "drive the ADR's traffic against a running server and print latency and errors",
		Example: "  renewald load --url http://127.0.0.1:8080 --pages 40 --sweeps --inbound --moves 10 --for 60s",
		RunE:    drive, Args: noArguments,
	}
	addTableFlags(cmd)
	f := cmd.Flags()
	f.String("url", "http://127.0.0.1:8080", "the running server")
	f.Int("pages", 40, "browsers that poll the list")
	f.Duration("poll", 0, "each browser's period; 0 means 4s")
	f.Bool("inbound", false, "messages come in beside it")
	f.Int("inbound-rate", 20, "messages a second, with --inbound")
	f.Int("moves", 0, "notes a second that browsers write on renewals")
	f.Bool("sweeps", false, "run the four sweeps beside it, straight on the table: needs --endpoint or AWS")
	f.Duration("for", 0, "how long; 0 means 60s")
	f.Uint64("seed", 1, "of the choices")
	return cmd
}

func drive(cmd *cobra.Command, _ []string) error {
	f := cmd.Flags()
	options := load.Options{Token: os.Getenv(tokenEnvironment)}
	options.Base, _ = f.GetString("url")
	options.Pages, _ = f.GetInt("pages")
	options.Poll, _ = f.GetDuration("poll")
	if inbound, _ := f.GetBool("inbound"); inbound {
		options.Inbound, _ = f.GetInt("inbound-rate")
	}
	options.Moves, _ = f.GetInt("moves")
	options.For, _ = f.GetDuration("for")
	options.Seed, _ = f.GetUint64("seed")
	if sweeps, _ := f.GetBool("sweeps"); sweeps {
		table := tableOptions(cmd)
		table.Listen, table.NoSweeps = "127.0.0.1:0", true
		a, err := app.New(cmd.Context(), table)
		if err != nil {
			return err
		}
		defer a.Close()
		for _, name := range app.Sweeps[:4] {
			options.Sweeps = append(options.Sweeps, func(ctx context.Context) error {
				_, err := a.Sweep(ctx, name)
				return err
			})
		}
	}
	report, err := load.Run(cmd.Context(), options)
	if err != nil {
		return err
	}
	fmt.Fprint(cmd.OutOrStdout(), report)
	if report.Failed() > 0 {
		return fmt.Errorf("%d of them: %w", report.Failed(), errLoadFailed)
	}
	return nil
}
