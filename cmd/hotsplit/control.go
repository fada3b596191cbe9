package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/migrate"
)

func newPauseCmd() *cobra.Command {
	t := &target{}
	var why string
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Have a running move finish the batch in hand and wait",
		Example: `  hotsplit pause --why "deploy at noon"
  hotsplit resume`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.change(cmd, "paused", func(l *migrate.Ledger) error { return l.Pause(cmd.Context(), why) })
		},
	}
	t.register(cmd)
	cmd.Flags().StringVar(&why, "why", "", "reason, which 'hotsplit status' shows")
	return cmd
}

func newResumeCmd() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:     "resume",
		Short:   "Have a paused move go on",
		Example: `  hotsplit resume`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.change(cmd, "resumed", func(l *migrate.Ledger) error { return l.Resume(cmd.Context()) })
		},
	}
	t.register(cmd)
	return cmd
}

func newSetCmd() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:   "set NAME=VALUE…",
		Short: "Change the pace of a move while it runs",
		Long: `set changes a running move, from any terminal, within a heartbeat of its runner:

  budget=UNITS     write units a second that the move may spend on the old key
  rate=ROWS        rows a second at most; 0 leaves it to the budget
  exclude=CLASSES  classes of owners that cannot be keyed and are left behind, separated by
                   commas (see 'hotsplit check'); empty for none`,
		Example: `  hotsplit set budget=300
  hotsplit set rate=0 budget=50`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := parseSettings(args)
			if err != nil {
				return usageError(cmd, err)
			}
			return t.change(cmd, strings.Join(args, " "), func(l *migrate.Ledger) error { return l.Set(cmd.Context(), settings) })
		},
	}
	t.register(cmd)
	return cmd
}

// change edits the record and tells what was done, or what would be.
func (t *target) change(cmd *cobra.Command, what string, do func(*migrate.Ledger) error) error {
	ledger, err := t.ledger(cmd.Context())
	if err != nil {
		return err
	}
	if t.dryRun {
		if _, err := ledger.Load(cmd.Context()); err != nil {
			return judged(err)
		}
		return t.tell(cmd, map[string]string{"would": what}, "would be done: "+what)
	}
	if err := do(ledger); err != nil {
		return judged(err)
	}
	record, err := ledger.Load(cmd.Context())
	if err != nil {
		return judged(err)
	}
	return t.tell(cmd, record.Control, what)
}

func parseSettings(args []string) (migrate.Settings, error) {
	var s migrate.Settings
	var faults []error
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			faults = append(faults, fmt.Errorf("%q is not of the form NAME=VALUE", arg))
			continue
		}
		switch name {
		case "budget", "rate":
			n, err := strconv.ParseFloat(value, 64)
			if err != nil || n < 0 || n > 1e6 {
				faults = append(faults, fmt.Errorf("%s: %q is not a number from 0 to 1,000,000", name, value))
				continue
			}
			if name == "budget" {
				s.Budget = &n
			} else {
				s.Rate = &n
			}
		case "exclude":
			s.Excluded = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
			if s.Excluded == nil {
				s.Excluded = []string{}
			}
		default:
			faults = append(faults, fmt.Errorf("%q cannot be set; what can: budget, rate, exclude", name))
		}
	}
	return s, errors.Join(faults...)
}
