package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

func newMoveCmd() *cobra.Command {
	d := &drive{}
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Move a table's rows from one layout to the other, the whole way",
		Long: `move does start, advance and complete in one call, with every gate. It asks before new
rows are stamped with the new key, and before the old key is no longer read, unless --yes.

It can be interrupted and called again at any time: it goes on where the record says. Ctrl-C
finishes the batch in hand. 'hotsplit rollback' goes back from any phase.`,
		Example: `  hotsplit move --spec hotsplit.yaml
  hotsplit move --spec hotsplit.yaml --endpoint http://127.0.0.1:8000 --yes --no-other-processes
  hotsplit move --dry-run                            # every guard, and not one write`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return d.move(cmd) },
	}
	d.register(cmd)
	return cmd
}

// gateWords are asked before the move enters a phase that other programs feel.
var gateWords = map[shard.Phase]string{
	shard.WriteNew: "From now on new rows are stamped with the new key: every reader must know both layouts. Go on?",
	shard.Complete: "From now on the old key is no longer read. Complete the move?",
}

func (d *drive) move(cmd *cobra.Command) error {
	if d.dryRun {
		return d.plan(cmd, d.options(cmd))
	}
	r, err := d.runner(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	defer d.release(r)
	if err := r.Start(ctx); err != nil {
		return d.stopped(r, err)
	}
	for r.Record().Phase != shard.Complete {
		next := r.Record().Phase.Next()[0]
		if words, ok := gateWords[next]; ok {
			if err := d.ask(words, "answer yes, or give --yes"); err != nil {
				return wrong(err)
			}
		}
		if _, err := r.Advance(ctx); err != nil {
			return d.stopped(r, err)
		}
	}
	return d.done(cmd, r)
}

// done tells what the record says now.
func (d *drive) done(cmd *cobra.Command, r *migrate.Runner) error {
	record := r.Record()
	text := fmt.Sprintf("%s: phase %s, %d rows moved", record.Name, record.Phase, record.Progress.Moved)
	if p := record.Pass; p != nil && p.Defects == 0 {
		text += fmt.Sprintf(", %d of %d owners read the same by the index as by the table", p.Owners, p.Owners)
	}
	return d.tell(cmd, record, text)
}

// stopped says where a move that did not finish stands and how to go on.
func (d *drive) stopped(r *migrate.Runner, err error) error {
	record := r.Record()
	if errors.Is(err, context.Canceled) {
		if record.Name != "" {
			fmt.Fprintf(d.out, "%s stands in phase %s with %d rows moved; the same command goes on from here\n", record.Name, record.Phase, record.Progress.Moved)
		}
		return err
	}
	return judged(err)
}

// release gives the lease up, even when the verb was interrupted.
func (d *drive) release(r *migrate.Runner) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWithin)
	defer cancel()
	if err := r.Release(ctx); err != nil {
		fmt.Fprintf(d.out, "the lease was not given up, and runs out by itself: %v\n", err)
	}
}

// plan tells what a move would do. It exits 1 where a gate would refuse.
func (d *drive) plan(cmd *cobra.Command, options migrate.Options) error {
	spec, client, err := d.open(cmd.Context())
	if err != nil {
		return err
	}
	plan, err := migrate.DryRun(cmd.Context(), client, spec, options)
	if err != nil {
		return judged(err)
	}
	if err := d.tell(cmd, plan, describePlan(plan)); err != nil {
		return err
	}
	return judged(plan.Err())
}

func describePlan(p migrate.Plan) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Nothing was written. %d of %d rows would move: %.0f write units on the table, %.0f on the index, about %v at the default budget.\n",
		p.Facts.ToMove, p.Facts.Rows, p.Facts.TableUnits, p.Facts.IndexUnits, p.Facts.Duration.Round(time.Second))
	for _, step := range p.Steps {
		fmt.Fprintf(&s, "  %-10s -> %-10s %s (%s)\n", step.From, step.To, step.Does, step.Text)
	}
	for _, refused := range p.Refused {
		fmt.Fprintf(&s, "would be refused: %s\n", refused)
	}
	return s.String()
}
