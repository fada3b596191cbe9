// Command hotsplit knows the operator's verbs: find a hot index key, spread it
// over shard keys, move the rows, prove it, and keep the old key from coming back.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main with its surroundings as values, so that script tests can call it.
// It gives the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return exitCode(ctx, root, root.ExecuteContext(ctx), stderr)
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "hotsplit",
		Short: "Find a hot DynamoDB index key, spread it over N keys, and prove that nothing changed",
		Long: `hotsplit finds a hot DynamoDB index key, spreads it over N shard keys, moves the
live rows without one missed read, proves that nothing changed, and keeps the old
key from coming back.

Exit codes: 0 done, 1 proved wrong or refused by a gate, 2 usage or bad input,
3 could not find out, 130 interrupted.`,
		Example: `  hotsplit demo                                     watch a move on the embedded DynamoDB
  hotsplit emulate --listen 127.0.0.1:8000          serve the embedded DynamoDB
  hotsplit move --spec hotsplit.yaml                move a table's rows, with every gate`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd, err) })
	root.AddCommand(verbs()...)
	return root
}
