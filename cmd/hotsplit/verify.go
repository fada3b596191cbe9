package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/migrate"
)

type verifyFlags struct {
	target
	options    migrate.VerifyOptions
	continuous bool
	every      time.Duration
	against    string
}

func newVerifyCmd() *cobra.Command {
	f := &verifyFlags{}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove that readers of the index see what the base table holds",
		Long: `verify compares, for every owner or a stated sample, what a reader sees on the index with a
strongly consistent scan of the base table. A difference is looked at again once the index had
time to settle, so a row that is just being written is no alarm.

Exit codes: 0 proved right, 1 proved wrong, 3 could not find out.`,
		Example: `  hotsplit verify
  hotsplit verify --sample 500 --seed 7
  hotsplit verify --continuous --every 10m
  hotsplit verify --against before.json      # 'hotsplit snapshot' took it`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.register(cmd)
	cmd.Flags().IntVar(&f.options.Sample, "sample", 0, "`owners` to check (default: all)")
	cmd.Flags().Uint64Var(&f.options.Seed, "seed", 1, "seed of the sample")
	cmd.Flags().DurationVar(&f.options.Settle, "settle", 0, "between the first two looks at a difference (default: as the record says)")
	cmd.Flags().BoolVar(&f.continuous, "continuous", false, "verify again and again, until interrupted or proved wrong")
	cmd.Flags().DurationVar(&f.every, "every", time.Minute, "pause between two passes, with --continuous")
	cmd.Flags().StringVar(&f.against, "against", "", "snapshot `file` to hold what readers see now against")
	return cmd
}

func (f *verifyFlags) run(cmd *cobra.Command) error {
	if f.options.Sample < 0 {
		return usageError(cmd, fmt.Errorf("--sample is %d, want 0 or more owners", f.options.Sample))
	}
	spec, client, err := f.open(cmd.Context())
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	switch {
	case f.continuous:
		return f.watch(cmd, client, spec)
	case f.against != "":
		snapshot, err := readSnapshot(f.against)
		if err != nil {
			return err
		}
		report, err := migrate.VerifyAgainst(ctx, client, spec, snapshot, f.options)
		return f.report(cmd, report, err)
	default:
		report, err := migrate.Verify(ctx, client, spec, f.options)
		return f.report(cmd, report, err)
	}
}

func (f *verifyFlags) report(cmd *cobra.Command, report migrate.Report, err error) error {
	if errors.Is(err, migrate.ErrSpec) || (err != nil && report.At == "") {
		return judged(err)
	}
	if cmd.Context().Err() != nil {
		return cmd.Context().Err()
	}
	if err := f.tell(cmd, report, report.String()); err != nil {
		return err
	}
	return judged(errors.Join(err, report.Err()))
}

func (f *verifyFlags) watch(cmd *cobra.Command, client migrate.ReadAPI, spec migrate.Spec) error {
	var last error
	err := migrate.VerifyContinuously(cmd.Context(), client, spec, f.options, f.every, func(report migrate.Report, err error) {
		last = f.report(cmd, report, err)
		if last != nil && cmd.Context().Err() == nil {
			fmt.Fprintln(cmd.ErrOrStderr(), last)
		}
	})
	if cmd.Context().Err() != nil {
		return cmd.Context().Err()
	}
	return errors.Join(last, judged(err))
}

func readSnapshot(path string) (migrate.Snapshot, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return migrate.Snapshot{}, badInput(fmt.Errorf("--against: %w", err))
	}
	snapshot, err := migrate.ParseSnapshot(data)
	if err != nil {
		return snapshot, badInput(fmt.Errorf("snapshot %s: %w", path, err))
	}
	return snapshot, nil
}

func newSnapshotCmd() *cobra.Command {
	t := &target{}
	var options migrate.SnapshotOptions
	var out string
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Note what readers see of some owners now, to hold it against what they see later",
		Example: `  hotsplit snapshot --sample 200 --out before.json
  hotsplit move && hotsplit verify --against before.json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, client, err := t.open(cmd.Context())
			if err != nil {
				return err
			}
			snapshot, err := migrate.TakeSnapshot(cmd.Context(), client, spec, options)
			if err != nil {
				return judged(err)
			}
			if out == "" || t.dryRun {
				return printJSON(cmd.OutOrStdout(), snapshot)
			}
			if err := writeFile(out, jsonWriter(snapshot)); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			return t.tell(cmd, map[string]any{"owners": len(snapshot.Owners), "file": out}, fmt.Sprintf("%d owners noted in %s", len(snapshot.Owners), out))
		},
	}
	t.register(cmd)
	cmd.Flags().IntVar(&options.Sample, "sample", 0, "`owners` to draw (default 100)")
	cmd.Flags().Uint64Var(&options.Seed, "seed", 1, "seed of the draw")
	cmd.Flags().StringSliceVar(&options.Owners, "owner", nil, "`owner` to note, in place of a draw; may be repeated")
	cmd.Flags().StringVar(&out, "out", "", "`file` to write to (default: standard output)")
	return cmd
}
