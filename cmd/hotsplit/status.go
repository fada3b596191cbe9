package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newStatusCmd() *cobra.Command {
	t := &target{}
	var watch bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show where a move stands: phase, rows, pace with its reason, members",
		Example: `  hotsplit status
  hotsplit status --watch
  hotsplit status --json | jq .phase`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !watch {
				return t.status(cmd)
			}
			if every < 100*time.Millisecond {
				return usageError(cmd, fmt.Errorf("--every is %v, want at least 100ms", every))
			}
			return t.watch(cmd, every)
		},
	}
	t.register(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again and again, until interrupted")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "how often, with --watch")
	return cmd
}

func (t *target) status(cmd *cobra.Command) error {
	ledger, err := t.ledger(cmd.Context())
	if err != nil {
		return err
	}
	status, err := ledger.Status(cmd.Context())
	if err != nil {
		return judged(err)
	}
	return t.tell(cmd, status, status.String())
}

func (t *target) watch(cmd *cobra.Command, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := t.status(cmd); err != nil {
			return err
		}
		select {
		case <-cmd.Context().Done():
			return cmd.Context().Err()
		case <-tick.C:
		}
	}
}

func newEventsCmd() *cobra.Command {
	t := &target{}
	var limit int
	cmd := &cobra.Command{
		Use:   "events",
		Short: "List what happened to a move, oldest first",
		Example: `  hotsplit events
  hotsplit events --last 20 --json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ledger, err := t.ledger(cmd.Context())
			if err != nil {
				return err
			}
			events, err := ledger.Events(cmd.Context(), limit)
			if err != nil {
				return judged(err)
			}
			lines := make([]string, len(events))
			for i, e := range events {
				lines[i] = e.String()
			}
			return t.tell(cmd, events, strings.Join(lines, "\n"))
		},
	}
	t.register(cmd)
	cmd.Flags().IntVar(&limit, "last", 0, "how many of the latest (default: all)")
	return cmd
}
