package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/migrate"
)

type guardFlags struct {
	target
	options migrate.GuardOptions
	fence   string
	watch   bool
	metrics string

	mu      sync.Mutex
	figures []migrate.Metric
}

func newGuardCmd() *cobra.Command {
	f := &guardFlags{}
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Find rows that came back to the old key, and heal them",
		Long: `guard looks for rows on a key that was left, which a program of an older release stamped, and
says who, when and how many, as far as the member list and the rows' own attributes (--blame) tell.
With --heal it moves them by the same conditional writes as a move.

--watch goes on; with --for it is the watch window after a move: it follows the index's key-range
throttles too, compares them with the same span before the move, and ends with a verdict.

Exit codes: 0 clean, 1 drift, 3 could not find out.`,
		Example: `  hotsplit guard
  hotsplit guard --heal --blame updatedBy
  hotsplit guard --watch --for 24h --metrics 127.0.0.1:9102`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.options.Heal, "heal", false, "move what is found")
	cmd.Flags().BoolVar(&f.options.Full, "full", false, "scan the base table too, which finds rows on a wrong shard")
	cmd.Flags().StringVar(&f.fence, "fence", string(migrate.FenceTransaction), "`how` healing moves are fenced: transaction or clock")
	cmd.Flags().StringSliceVar(&f.options.Blame, "blame", nil, "`attribute` of a row that tells who wrote it; may be repeated")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "look again and again")
	cmd.Flags().DurationVar(&f.options.Every, "every", time.Minute, "between two looks, with --watch")
	cmd.Flags().DurationVar(&f.options.For, "for", 0, "how long to watch (default: until interrupted)")
	cmd.Flags().StringVar(&f.metrics, "metrics", "", "`address` on this machine to serve Prometheus metrics at, with --watch")
	return cmd
}

func (f *guardFlags) run(cmd *cobra.Command) error {
	if !f.watch && (f.options.For > 0 || f.metrics != "") {
		return usageError(cmd, errors.New("--for and --metrics go with --watch"))
	}
	spec, client, err := f.open(cmd.Context())
	if err != nil {
		return err
	}
	f.options.Fence, f.options.Holder = migrate.Fence(f.fence), "hotsplit guard"
	f.options.Heal = f.options.Heal && !f.dryRun
	throttles, err := f.throttles(cmd.Context(), spec)
	if err != nil {
		return err
	}
	f.options.Throttles = throttles
	var guard *migrate.Guard
	f.options.Observe = func(r migrate.GuardReport) {
		f.keep(guard.Metrics())
		if f.watch && !f.json {
			fmt.Fprintln(cmd.ErrOrStderr(), describeLook(r))
		}
	}
	if guard, err = migrate.NewGuard(client, spec, f.options); err != nil {
		return judged(err)
	}
	look := guard.Once
	if f.watch {
		stop, err := f.serve(cmd)
		if err != nil {
			return err
		}
		defer stop()
		look = guard.Watch
	}
	report, err := look(cmd.Context())
	return f.report(cmd, report, err)
}

func (f *guardFlags) report(cmd *cobra.Command, report migrate.GuardReport, err error) error {
	interrupted := cmd.Context().Err()
	if interrupted != nil && f.options.For > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "interrupted before the window had passed: this is no verdict")
	}
	if err != nil && interrupted == nil && report.Looks == 0 && report.Failures == 0 {
		return judged(err)
	}
	if err := f.tell(cmd, report, describeGuard(report)); err != nil {
		return err
	}
	if interrupted != nil {
		return interrupted
	}
	if errors.Is(report.Err(), migrate.ErrDrift) {
		return wrong(report.Err())
	}
	return judged(errors.Join(err, report.Err()))
}

func describeLook(r migrate.GuardReport) string {
	switch {
	case r.Unknown != "":
		return fmt.Sprintf("%s could not look: %s", r.At, r.Unknown)
	case r.Found == 0:
		return fmt.Sprintf("%s clean (%d looks)", r.At, r.Looks)
	default:
		return fmt.Sprintf("%s %d stragglers so far, %d healed, last seen %s", r.At, r.Found, r.Healed, r.Last)
	}
}

func describeGuard(r migrate.GuardReport) string {
	var s strings.Builder
	if r.Found == 0 {
		fmt.Fprintf(&s, "clean: no row came back to a key that was left, in %d looks (phase %s)\n", r.Looks, r.Phase)
	} else {
		fmt.Fprintf(&s, "DRIFT: %d rows came back to a key that was left, first seen %s, last %s; %d healed\n", r.Found, r.First, r.Last, r.Healed)
	}
	for _, row := range r.Stragglers {
		fmt.Fprintf(&s, "  %s of owner %q carries %q, want %q", row.KeyText, row.Owner, row.IndexKey, row.Want)
		for name, value := range row.Blame {
			fmt.Fprintf(&s, ", %s %s", name, value)
		}
		s.WriteByte('\n')
	}
	for _, m := range r.Behind {
		fmt.Fprintf(&s, "  suspect: member %s (%s, version %s) is on generation %d\n", m.ID, m.Role, m.Version, m.Generation)
	}
	if r.NotHealed != "" {
		fmt.Fprintf(&s, "  not healed: %s\n", r.NotHealed)
	}
	if r.Unknown != "" {
		fmt.Fprintf(&s, "  the last look could not find out: %s\n", r.Unknown)
	}
	if t := r.Throttles; t != nil {
		fmt.Fprintf(&s, "key-range throttles of the index in %v: %.0f, and %.0f in the same span before the move\n",
			time.Duration(t.Seconds*float64(time.Second)).Round(time.Second), t.During, t.Before)
	}
	return s.String()
}

func (f *guardFlags) keep(figures []migrate.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.figures = figures
}

// serve offers the guard's figures in Prometheus' text format, on this machine
// alone.
func (f *guardFlags) serve(cmd *cobra.Command) (stop func(), err error) {
	if f.metrics == "" {
		return func() {}, nil
	}
	host, _, err := net.SplitHostPort(f.metrics)
	if ip := net.ParseIP(host); err != nil || (host != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return nil, usageError(cmd, fmt.Errorf("--metrics: %q is not an address of this machine like 127.0.0.1:9102", f.metrics))
	}
	listener, err := net.Listen("tcp", f.metrics)
	if err != nil {
		return nil, badInput(fmt.Errorf("--metrics: %w", err))
	}
	server := &http.Server{Handler: http.HandlerFunc(f.serveMetrics), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	fmt.Fprintf(cmd.ErrOrStderr(), "metrics at http://%s/metrics\n", listener.Addr())
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), releaseWithin)
		defer cancel()
		_ = server.Shutdown(ctx)
		<-done
	}, nil
}

func (f *guardFlags) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metrics" || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for _, m := range f.figures {
		kind := "gauge"
		if m.Counter {
			kind = "counter"
		}
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s%s %g\n", m.Name, m.Help, m.Name, kind, m.Name, labels(m.Labels), m.Value)
	}
}
