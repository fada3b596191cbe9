package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// target is the move that a verb is about, and how its outcome is told.
type target struct {
	connection
	specFlag
	json   bool
	dryRun bool
}

func (t *target) register(cmd *cobra.Command) {
	t.specFlag.register(cmd)
	t.connection.register(cmd)
	cmd.Flags().BoolVar(&t.json, "json", false, "print one JSON object on stdout and nothing else there")
	cmd.Flags().BoolVar(&t.dryRun, "dry-run", false, "look and check, with a client that cannot write, and say what would be done")
}

// open reads the spec and makes a client whose retries are its own.
func (t *target) open(ctx context.Context) (migrate.Spec, *dynamodb.Client, error) {
	spec, err := t.read()
	if err != nil {
		return spec, nil, err
	}
	cfg, err := t.config(ctx, "hotsplit")
	if err != nil {
		return spec, nil, err
	}
	return spec, migrate.RunnerClient(cfg, func(o *dynamodb.Options) {
		if t.endpoint != "" {
			o.BaseEndpoint = aws.String(t.endpoint)
		}
	}), nil
}

func (t *target) ledger(ctx context.Context) (*migrate.Ledger, error) {
	spec, client, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	return migrate.OpenLedger(client, spec)
}

// tell prints v as JSON, or as the words in text.
func (t *target) tell(cmd *cobra.Command, v any, text string) error {
	if t.json {
		return printJSON(cmd.OutOrStdout(), v)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.TrimRight(text, "\n"))
	return err
}

// judged gives what the migrate package refused or proved its exit code.
func judged(err error) error {
	switch {
	case err == nil:
		return nil
	case isAny(err, migrate.ErrSpec, migrate.ErrMismatch, shard.ErrLayout, migrate.ErrFormat, migrate.ErrCheckpoint, migrate.ErrSnapshot):
		return badInput(err)
	case errors.Is(err, migrate.ErrNoRecord):
		return wrong(fmt.Errorf("%w; 'hotsplit start' begins a move", err))
	case isAny(err, migrate.ErrRefused, migrate.ErrDiverged, migrate.ErrDrift, migrate.ErrLeaseHeld, migrate.ErrLeaseLost, migrate.ErrProbe):
		return wrong(err)
	default:
		return unknown(err)
	}
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// drive is what the verbs that change phases and move rows take beside target.
type drive struct {
	target
	yes, alone    bool
	fence, source string
	budget, rate  float64
	sample        int
	watch         time.Duration
	bounds        migrate.Bounds

	in  *bufio.Reader
	out io.Writer
}

func (d *drive) register(cmd *cobra.Command) {
	d.target.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&d.yes, "yes", false, "answer every question with yes")
	f.BoolVar(&d.alone, "no-other-processes", false, "say that no process outside the member list reads or writes the rows")
	f.StringVar(&d.fence, "fence", string(migrate.FenceTransaction), "`how` a move that was held up is kept from landing late: transaction, or clock for endpoints without transactions")
	f.StringVar(&d.source, "source", string(migrate.SourceDrain), "`where` rows to move are found: drain (the old key on the index) or scan (the base table)")
	f.Float64Var(&d.budget, "budget", 0, "write `units` a second that the move may spend on the old key (default 100), for a move that starts; then 'hotsplit set'")
	f.Float64Var(&d.rate, "rate", 0, "`rows` a second at most, for a move that starts (default: as the budget allows)")
	f.IntVar(&d.sample, "sample", 0, "`owners` to verify before the move completes (default: all)")
	f.DurationVar(&d.watch, "straggler-window", 0, "how long no row may appear on the old key before the move completes (default 30s)")
	f.DurationVar(&d.bounds.Poll, "poll", 0, "how often members look at the record, for a move that starts (default 1s)")
	f.DurationVar(&d.bounds.Stale, "stale", 0, "how old a member's look at the record may be, for a move that starts (default 3s)")
	f.DurationVar(&d.bounds.Settle, "settle", 0, "how long the index must have shown a batch settled, for a move that starts (default 1s)")
	f.DurationVar(&d.bounds.Lease, "lease", 0, "silence after which another runner takes over, for a move that starts (default 10s)")
	f.DurationVar(&d.bounds.Member, "member", 0, "silence after which a member is not waited for, for a move that starts (default 15s)")
}

// runner opens the target and makes its runner. Interrupted, a verb finishes the
// batch in hand and gives the lease up.
func (d *drive) runner(cmd *cobra.Command) (*migrate.Runner, error) {
	spec, client, err := d.open(cmd.Context())
	if err != nil {
		return nil, err
	}
	d.in, d.out = bufio.NewReader(cmd.InOrStdin()), cmd.ErrOrStderr()
	r, err := migrate.NewRunner(client, spec, d.options(cmd))
	if err != nil {
		return nil, judged(err)
	}
	return r, nil
}

func (d *drive) options(cmd *cobra.Command) migrate.Options {
	screen := &moveScreen{out: cmd.ErrOrStderr()}
	return migrate.Options{
		Holder: "hotsplit", Fence: migrate.Fence(d.fence), Source: migrate.Source(d.source),
		Bounds: d.bounds, Budget: d.budget, Rate: d.rate, Watch: d.watch, Sample: d.sample,
		Alone: d.alone, Confirm: d.confirm, Observe: screen.show,
	}
}

// confirm asks the person at the terminal what only a person knows.
func (d *drive) confirm(_ context.Context, q migrate.Question) error {
	hint := "answer yes, or give --no-other-processes"
	if q.Kind == migrate.QuestionWait {
		hint = "answer yes, or give --yes"
	}
	text := q.Text
	for _, m := range q.Members {
		text += fmt.Sprintf("\n  %s (%s, version %s)", m.ID, m.Role, m.Version)
	}
	if q.Kind == migrate.QuestionAlone {
		text += "\nType yes if there is NO other process that reads or writes these rows"
	}
	return d.ask(text, hint)
}

// errNotConfirmed says that a question was answered with anything but yes.
var errNotConfirmed = errors.New("not confirmed")

func (d *drive) ask(question, hint string) error {
	if d.yes {
		return nil
	}
	fmt.Fprintf(d.out, "%s [yes/no] ", question)
	answer, err := d.in.ReadString('\n')
	if strings.TrimSpace(answer) == "yes" {
		return nil
	}
	if err != nil {
		fmt.Fprintln(d.out)
	}
	return fmt.Errorf("%w: %s", errNotConfirmed, hint)
}

// moveScreen shows what a runner does, a line each time it says something new,
// and a status line every few seconds while rows move.
type moveScreen struct {
	out  io.Writer
	said time.Time
	last string
}

func (s *moveScreen) show(e migrate.Event) {
	switch e.Kind {
	case migrate.EventPublished, migrate.EventMoved, migrate.EventSettled, migrate.EventThrottled:
		if time.Since(s.said) < sayEvery {
			return
		}
	}
	line := fmt.Sprintf("%-10s %s", e.Phase, e.Text)
	if e.Progress != nil && e.Progress.Moved > 0 {
		line += fmt.Sprintf(" | moved %d/%d", e.Progress.Moved, max(e.Progress.Total, e.Progress.Moved))
	}
	if e.Progress != nil && e.Progress.Why != "" && e.Kind == migrate.EventMoved {
		line += fmt.Sprintf(" | %.0f rows/s: %s", e.Progress.Rate, e.Progress.Why)
	}
	if line == s.last {
		return
	}
	s.said, s.last = time.Now(), line
	fmt.Fprintln(s.out, line)
}
