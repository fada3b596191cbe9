package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
)

func newServeCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "answer pages, JSON and inbound messages, and run the sweeps",
		Example: "  renewald --demo\n  RENEWALD_TOKEN=… renewald serve --table propflow-prod --move renewal-saga",
		RunE:    serve, Args: noArguments,
	}
	addServeFlags(cmd)
	return cmd
}

func serve(cmd *cobra.Command, _ []string) error {
	options, err := serveOptions(cmd)
	if err != nil {
		return err
	}
	a, err := app.New(cmd.Context(), options)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "renewals   http://%s/leasing/renewals\n", a.Addr())
	if endpoint := a.Endpoint(); endpoint != "" {
		fmt.Fprintf(out, "dynamodb   %s (emulator, any credentials)\n", endpoint)
	}
	return a.Run(cmd.Context())
}

func newSweepCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sweep NAME", Short: "run one sweep now, whatever its schedule",
		Long:      "Run one sweep now: " + strings.Join(app.Sweeps, ", ") + ".",
		ValidArgs: app.Sweeps, RunE: sweepOnce,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(app.Sweeps, args[0]) {
				return &usageError{fmt.Errorf("want one of %s", strings.Join(app.Sweeps, ", "))}
			}
			return nil
		},
	}
	addTableFlags(cmd)
	return cmd
}

func sweepOnce(cmd *cobra.Command, args []string) error {
	options := tableOptions(cmd)
	options.Listen, options.NoSweeps = "127.0.0.1:0", true
	a, err := app.New(cmd.Context(), options)
	if err != nil {
		return err
	}
	defer a.Close()
	result, err := a.Sweep(cmd.Context(), args[0])
	if err != nil {
		return fmt.Errorf("sweep %s: %w", args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", args[0], result)
	return nil
}
