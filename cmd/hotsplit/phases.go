package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// releaseWithin bounds how long an interrupted verb takes to give its lease up.
const releaseWithin = 5 * time.Second

// phaseVerb is a verb that takes the lease, does one thing, and tells where the
// move stands.
func phaseVerb(cmd *cobra.Command, do func(cmd *cobra.Command, d *drive, r *migrate.Runner) error) *cobra.Command {
	d := &drive{}
	cmd.Args = usageArgs(cobra.NoArgs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if d.dryRun {
			return d.plan(cmd, d.options(cmd))
		}
		r, err := d.runner(cmd)
		if err != nil {
			return err
		}
		defer d.release(r)
		if err := do(cmd, d, r); errors.Is(err, errNotConfirmed) {
			return wrong(err)
		} else if err != nil {
			return d.stopped(r, err)
		}
		return d.done(cmd, r)
	}
	d.register(cmd)
	return cmd
}

func newStartCmd() *cobra.Command {
	return phaseVerb(&cobra.Command{
		Use:   "start",
		Short: "Begin a move: write its record, in phase planned",
		Long: `start writes the record of the move into the table, in phase planned. Nothing is read or
stamped differently yet. The record holds the layouts, the bounds and the pace; members that
watch it report themselves from now on ('hotsplit status').`,
		Example: `  hotsplit start --spec hotsplit.yaml
  hotsplit start --budget 200 --stale 5s`,
	}, func(cmd *cobra.Command, _ *drive, r *migrate.Runner) error { return r.Start(cmd.Context()) })
}

func newAdvanceCmd() *cobra.Command {
	return phaseVerb(&cobra.Command{
		Use:   "advance",
		Short: "Take a move one phase further, with its work, waits and gates",
		Long: `advance takes the move one phase further: planned, dual-read, write-new, backfill, verified.
It waits until every member reports the phase and the staleness bound has passed. From backfill
it moves the rows first and verifies them. It does not complete a move: that is 'hotsplit complete'.`,
		Example: `  hotsplit advance
  hotsplit advance --yes --no-other-processes`,
	}, func(cmd *cobra.Command, d *drive, r *migrate.Runner) error {
		if err := r.Start(cmd.Context()); err != nil {
			return err
		}
		if r.Record().Phase == shard.Verified {
			return &migrate.GateError{Gate: "verb", From: shard.Verified, To: shard.Complete,
				Why: "the next phase ends the reading of the old key", Do: "call 'hotsplit complete'"}
		}
		_, err := r.Advance(cmd.Context())
		return err
	})
}

func newCompleteCmd() *cobra.Command {
	return phaseVerb(&cobra.Command{
		Use:   "complete",
		Short: "End a verified move: the old key is no longer read",
		Long: `complete ends the reading of the old key. It is refused without a fresh verification, with any
row left on the old key, with a member on an old generation, or with a straggler stamped within
the window. 'hotsplit rollback' still goes back until 'hotsplit archive'.`,
		Example: `  hotsplit complete
  hotsplit complete --sample 1000 --yes`,
	}, func(cmd *cobra.Command, d *drive, r *migrate.Runner) error {
		if err := d.ask(gateWords[shard.Complete], "answer yes, or give --yes"); err != nil {
			return err
		}
		return r.Complete(cmd.Context())
	})
}

func newRollbackCmd() *cobra.Command {
	return phaseVerb(&cobra.Command{
		Use:   "rollback",
		Short: "Go back from any phase: every row to the old key",
		Long: `rollback goes back from any phase to planned, while readers and writers run: rows that were
created, changed or re-owned since go to the old key too. It is paced, resumable and verified
like the way forward, and 'hotsplit move' goes forward again afterwards.`,
		Example: `  hotsplit rollback
  hotsplit rollback --budget 300 --yes`,
	}, func(cmd *cobra.Command, d *drive, r *migrate.Runner) error {
		if err := d.ask("Every row goes back to the old key. Roll back?", "answer yes, or give --yes"); err != nil {
			return err
		}
		_, err := r.Rollback(cmd.Context())
		return err
	})
}

func newArchiveCmd() *cobra.Command {
	return phaseVerb(&cobra.Command{
		Use:   "archive",
		Short: "Close a move that is complete or was rolled back",
		Long: `archive closes the record: the way back ends, members go by the longer bounds, and the next
move (16 to 32 keys, say) may begin on the same record.`,
		Example: `  hotsplit archive --yes`,
	}, func(cmd *cobra.Command, d *drive, r *migrate.Runner) error {
		if err := d.ask("The way back ends here. Archive the move?", "answer yes, or give --yes"); err != nil {
			return err
		}
		return r.Archive(cmd.Context())
	})
}
