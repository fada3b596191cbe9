package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/migrate"
)

func newCheckCmd() *cobra.Command {
	d := &drive{}
	var probe bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Find out before a move what could go wrong in it",
		Long: `check reads the table once and says what an operator should know: the index's state and key
types, point-in-time recovery and streams, owners that cannot be keyed, the heaviest owner and
shard, and what the move costs and how long it takes. With --probe it moves a row of its own both
ways and deletes it again, which proves the permissions and the way back.

Exit codes: 0 nothing forbids the move, 1 something does, 3 could not find out.`,
		Example: `  hotsplit check
  hotsplit check --probe --json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, client, err := d.open(cmd.Context())
			if err != nil {
				return err
			}
			facts, err := migrate.Inspect(cmd.Context(), client, spec)
			if err != nil {
				return judged(err)
			}
			if probe && !d.dryRun && facts.Err() == nil {
				facts.Facts = append(facts.Facts, d.probe(cmd))
			}
			if err := d.tell(cmd, facts, describeFacts(facts)); err != nil {
				return err
			}
			return judged(facts.Err())
		},
	}
	d.target.register(cmd)
	cmd.Flags().StringVar(&d.fence, "fence", string(migrate.FenceTransaction), "`how` moves will be fenced: transaction or clock")
	cmd.Flags().BoolVar(&probe, "probe", false, "move a row of its own both ways, and delete it")
	d.source = string(migrate.SourceDrain)
	return cmd
}

func (d *drive) probe(cmd *cobra.Command) migrate.Fact {
	fact := migrate.Fact{Severity: migrate.SeverityFault, Name: "probe"}
	r, err := d.runner(cmd)
	if err != nil {
		fact.Text = err.Error()
		return fact
	}
	report, err := r.Probe(cmd.Context())
	if err != nil {
		fact.Text, fact.Do = err.Error(), "correct what the error names, and check again"
		return fact
	}
	fact.Severity = migrate.SeverityOK
	fact.Text = fmt.Sprintf("a row moved forth in %v and back in %v, as the index shows it",
		report.Forth.Round(time.Millisecond), report.Back.Round(time.Millisecond))
	return fact
}

func describeFacts(f migrate.Facts) string {
	var s strings.Builder
	for _, fact := range f.Facts {
		fmt.Fprintf(&s, "%-8s %-24s %s\n", fact.Severity, fact.Name, fact.Text)
		if fact.Do != "" {
			fmt.Fprintf(&s, "%-8s %-24s do: %s\n", "", "", fact.Do)
		}
	}
	fmt.Fprintf(&s, "%d rows of %d owners, %d bytes; %d have to move. Heaviest owner %s with %d rows, heaviest shard %s with %d.\n",
		f.Rows, f.Owners, f.Bytes, f.ToMove, f.HeaviestOwner.Name, f.HeaviestOwner.Rows, f.HeaviestShard.Name, f.HeaviestShard.Rows)
	fmt.Fprintf(&s, "The move takes about %v at the default budget, %.0f write units on the table and %.0f on the index: $%.4f.\n",
		f.Duration.Round(time.Second), f.TableUnits, f.IndexUnits, f.Dollars)
	return s.String()
}

func newInitCmd() *cobra.Command {
	t := &target{}
	var table, index string
	var shards int
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented spec from a live table",
		Example: `  hotsplit init --table propflow-prod --index renewal-saga-person-index
  hotsplit init --table propflow --index gsi4 --shards 32 --endpoint http://127.0.0.1:8000`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if table == "" || index == "" {
				return usageError(cmd, errors.New("--table and --index are needed: the table, and the index whose key is hot"))
			}
			return t.draft(cmd, table, index, shards)
		},
	}
	t.register(cmd)
	cmd.Flags().StringVar(&table, "table", "", "`name` of the table")
	cmd.Flags().StringVar(&index, "index", "", "`name` of the index whose key is hot")
	cmd.Flags().IntVar(&shards, "shards", 16, "keys to spread the rows over")
	return cmd
}

func (t *target) draft(cmd *cobra.Command, table, index string, shards int) error {
	client, err := t.client(cmd.Context(), "hotsplit")
	if err != nil {
		return err
	}
	spec, notes, err := migrate.Draft(cmd.Context(), client, table, index)
	if err != nil {
		return judged(err)
	}
	spec.To.Count = shards
	text := spellSpec(spec, notes)
	if t.dryRun {
		_, err := fmt.Fprint(cmd.OutOrStdout(), text)
		return err
	}
	if err := createFile(t.path, text); err != nil {
		return badInput(fmt.Errorf("--spec: %w", err))
	}
	return t.tell(cmd, map[string]any{"file": t.path, "spec": spec}, fmt.Sprintf("%s written; read it, then 'hotsplit check --spec %s'", t.path, t.path))
}
