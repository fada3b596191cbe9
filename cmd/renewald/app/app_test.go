package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/web"
)

func start(t *testing.T, options app.Options) (a *app.App, stop func() error) {
	t.Helper()
	options.Listen, options.Log = "127.0.0.1:0", slog.New(slog.DiscardHandler)
	a, err := app.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	return a, func() error { cancel(); return <-done }
}

func get(t *testing.T, a *app.App, path string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func eventually(t *testing.T, what string, yes func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-ctx.Done():
			t.Fatalf("never came: %s", what)
		case <-tick.C:
		}
	}
}

// TestTwoProcessesShareTheSweeps: two processes on one table run each slot of
// each sweep once, and stop without leaving anything behind.
func TestTwoProcessesShareTheSweeps(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	before := goleak.IgnoreCurrent()
	one, stopOne := start(t, app.Options{Demo: true, DemoSagas: 30, SweepScale: 0.02, Access: web.Access{Open: true}})
	two, stopTwo := start(t, app.Options{Endpoint: one.Endpoint(), Region: "us-east-1", SweepScale: 0.02})
	eventually(t, "four sweeps", func() bool { return len(jobsOf(one)) >= 4 })
	eventually(t, "a sweep in each process", func() bool { return ran(t, one) > 0 && ran(t, two) > 0 })
	if err := errors.Join(stopTwo(), stopOne()); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, before, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// jobsOf are the sweeps that somebody took, by the table's log.
func jobsOf(a *app.App) map[string]bool {
	jobs := map[string]bool{}
	for _, e := range a.Emulator().Log() {
		for _, u := range e.Units {
			if strings.HasPrefix(u.Key, "SWEEPJOB#") && e.Outcome == "ok" {
				jobs[u.Key] = true
			}
		}
	}
	return jobs
}

// ran counts the sweeps that this process ran.
func ran(t *testing.T, a *app.App) int {
	t.Helper()
	_, text := get(t, a, "/ops")
	var ops struct{ Sweeps []struct{ Last time.Time } }
	if err := json.Unmarshal([]byte(text), &ops); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range ops.Sweeps {
		if !s.Last.IsZero() {
			n++
		}
	}
	return n
}

func TestSweepsByHand(t *testing.T) {
	a, stop := start(t, app.Options{
		Demo: true, DemoSagas: 60, NoSweeps: true, Access: web.Access{Open: true}, Rules: renewal.Rules{RetryMin: time.Second, Stuck: time.Hour},
	})
	for name, want := range map[string]string{
		"workflow-health": `^60 sagas, \d+ to look at$`, "retry-failed-prepare": `^[1-9]\d* moved, 0 had moved`,
		"stuck-saga": `\d+ moved`, "agent-metrics": `^60 open`,
	} {
		result, err := a.Sweep(t.Context(), name)
		if err != nil || !regexp.MustCompile(want).MatchString(result) {
			t.Errorf("%s: %q, %v; want %s", name, result, err, want)
		}
	}
	if _, err := a.Sweep(t.Context(), "spring-cleaning"); !errors.Is(err, app.ErrNoSweep) {
		t.Errorf("an unknown sweep: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestDashboardShowsWhatIsExported: every metric that the dashboard asks for is
// one that the application has.
func TestDashboardShowsWhatIsExported(t *testing.T) {
	a, stop := start(t, app.Options{Demo: true, DemoSagas: 20, NoSweeps: true, Access: web.Access{Open: true}})
	for _, name := range app.Sweeps[:4] {
		if _, err := a.Sweep(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	get(t, a, "/leasing/renewals")
	_, metrics := get(t, a, "/metrics")
	text, err := os.ReadFile("../grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			for _, name := range regexp.MustCompile(`renewald_[a-z_]+`).FindAllString(target.Expr, -1) {
				asked++
				if !strings.Contains(metrics, "\n"+name+"{") && !strings.Contains(metrics, "\n"+name+" ") {
					t.Errorf("the dashboard asks for %s, which is not exported", name)
				}
			}
		}
	}
	if asked < 8 {
		t.Errorf("the dashboard asks for %d metrics", asked)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestReadyTellsTroublesApart: starting, an index that is away, and back.
func TestReadyTellsTroublesApart(t *testing.T) {
	a, stop := start(t, app.Options{Demo: true, DemoSagas: 20, NoSweeps: true, Fresh: 100 * time.Millisecond, Access: web.Access{Open: true}})
	eventually(t, "ready", func() bool { status, _ := get(t, a, "/readyz"); return status == http.StatusOK })
	if status, _ := get(t, a, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz is %d", status)
	}
	away := a.Emulator().Inject(emulator.Fault{Kind: emulator.FaultThrottle, Operation: "Query"})
	if status, text := get(t, a, "/readyz"); status != http.StatusOK {
		t.Errorf("a throttle makes it not ready: %s", text)
	}
	a.Emulator().Withdraw(away)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestOptionsThatDoNotGoTogether(t *testing.T) {
	for name, o := range map[string]app.Options{
		"two tables":        {Demo: true, Endpoint: "http://127.0.0.1:1"},
		"open to the world": {Access: web.Access{Open: true}},
		"too many shards":   {Shards: 1 << 20},
		"no address":        {Listen: "here"},
	} {
		if _, err := app.New(t.Context(), o); !errors.Is(err, app.ErrOptions) {
			t.Errorf("%s: %v, want ErrOptions", name, err)
		}
	}
}
