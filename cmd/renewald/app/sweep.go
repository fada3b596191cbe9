package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/web"
)

// job is a sweep and how often it runs.
type job struct {
	name  string
	every time.Duration
	run   func(ctx context.Context, b web.Board, now time.Time) (outcome, error)
}

// outcome is what a run has to say.
type outcome struct {
	text     string
	findings []renewal.Finding
}

// sweeps runs the jobs of one process.
type sweeps struct {
	app  *App
	jobs []job

	mu       sync.Mutex
	runs     map[string]web.SweepRun
	findings map[string][]renewal.Finding
	metrics  renewal.Metrics
}

// ErrNoSweep: there is no sweep of this name. Do not retry.
var ErrNoSweep = errors.New("app: no such sweep")

// Sweeps names the sweeps that run by the clock and by hand.
var Sweeps = []string{"workflow-health", "retry-failed-prepare", "stuck-saga", "agent-metrics", "drift-guard"}

func newSweeps(a *App) *sweeps {
	s := &sweeps{app: a, runs: map[string]web.SweepRun{}, findings: map[string][]renewal.Finding{}}
	scaled := func(every time.Duration) time.Duration {
		return max(time.Second, time.Duration(float64(every)*a.options.SweepScale))
	}
	s.jobs = []job{
		{Sweeps[0], scaled(5 * time.Minute), s.health},
		{Sweeps[1], scaled(2 * time.Minute), s.retry},
		{Sweeps[2], scaled(10 * time.Minute), s.stuck},
		{Sweeps[3], scaled(time.Minute), s.measure},
	}
	if a.watcher != nil {
		s.jobs = append(s.jobs, job{Sweeps[4], scaled(time.Minute), s.guard})
	}
	for _, j := range s.jobs {
		s.runs[j.name] = web.SweepRun{Name: j.name, Every: j.every}
	}
	return s
}

func (s *sweeps) health(ctx context.Context, b web.Board, now time.Time) (outcome, error) {
	found := s.app.options.Rules.WorkflowHealth(b.Sagas, now)
	o := outcome{text: fmt.Sprintf("%d sagas, %d to look at", len(b.Sagas), len(found)), findings: found}
	if s.app.automation == nil {
		return o, nil
	}
	report, err := s.app.automation.Health(ctx, b.Sagas)
	o.text += fmt.Sprintf("; %d workflows, %d repaired, %d for a person", report.Flows, len(report.Repaired), len(report.Left))
	for _, f := range report.Left {
		o.findings = append(o.findings, renewal.Finding{SagaID: f.SagaID, LeaseID: f.Lease.ID, Why: f.String()})
	}
	return o, err
}

func (s *sweeps) retry(ctx context.Context, b web.Board, now time.Time) (outcome, error) {
	return s.apply(ctx, b, s.app.options.Rules.RetryFailedPrepare(b.Sagas, now), nil)
}

func (s *sweeps) stuck(ctx context.Context, b web.Board, now time.Time) (outcome, error) {
	decisions, found := s.app.options.Rules.StuckSaga(b.Sagas, now)
	return s.apply(ctx, b, decisions, found)
}

func (s *sweeps) measure(_ context.Context, b web.Board, now time.Time) (outcome, error) {
	m := s.app.options.Rules.AgentMetrics(b.Sagas, now)
	s.mu.Lock()
	s.metrics = m
	s.mu.Unlock()
	return outcome{text: fmt.Sprintf("%d open, %d overdue", m.Open, m.Overdue)}, nil
}

func (s *sweeps) guard(ctx context.Context, _ web.Board, _ time.Time) (outcome, error) {
	guard, err := migrate.NewGuard(s.app.clients.sweeps, s.app.options.Spec(), migrate.GuardOptions{
		Heal: true, Holder: "renewald " + s.app.watcher.ID(), Blame: []string{"updatedAt", "openedAt"},
	})
	if err != nil {
		return outcome{}, err
	}
	report, err := guard.Once(ctx)
	switch {
	case errors.Is(err, migrate.ErrNoRecord):
		return outcome{text: "no move is open"}, nil
	case err != nil:
		return outcome{}, err
	}
	o := outcome{text: fmt.Sprintf("%s: %d stragglers, %d healed", report.Phase, report.Found, report.Healed)}
	if report.Found > report.Healed {
		o.text += " " + report.NotHealed
	}
	return o, nil
}

// apply makes the decisions one after the other. A saga that moved meanwhile is
// left alone: the decision was about another state.
func (s *sweeps) apply(ctx context.Context, b web.Board, decisions []renewal.Decision, found []renewal.Finding) (outcome, error) {
	sagas := map[string]renewal.Saga{}
	for _, saga := range b.Sagas {
		sagas[saga.ID] = saga
	}
	done, late := 0, 0
	for _, d := range decisions {
		_, err := s.app.move(ctx, s.app.sweepStore, sagas[d.SagaID], d.Change)
		switch {
		case err == nil:
			done++
		case errors.Is(err, renewal.ErrConflict), errors.Is(err, renewal.ErrIllegalMove), errors.Is(err, renewal.ErrNotFound):
			late++
		default:
			return outcome{text: fmt.Sprintf("%d of %d moved", done, len(decisions)), findings: found}, err
		}
	}
	return outcome{text: fmt.Sprintf("%d moved, %d had moved, %d to look at", done, late, len(found)), findings: found}, nil
}

// schedule runs the jobs by the clock until the scheduler is shut down. Each
// starts at its own place in its period, a little late by chance, and once at
// the start for what was missed.
func (s *sweeps) schedule(ctx context.Context) (gocron.Scheduler, error) {
	scheduler, err := gocron.NewScheduler(gocron.WithStopTimeout(leaseMargin))
	if err != nil {
		return nil, fmt.Errorf("make scheduler: %w", err)
	}
	for _, j := range s.jobs {
		task := gocron.NewTask(func() { s.turn(ctx, j) })
		_, err := scheduler.NewJob(gocron.DurationJob(j.every), task, gocron.WithName(j.name),
			gocron.WithSingletonMode(gocron.LimitModeReschedule),
			gocron.WithStartAt(gocron.WithStartDateTime(next(j.name, j.every, time.Now()).Add(lateBy(j.every)))))
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", j.name, err)
		}
		_, err = scheduler.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartDateTime(time.Now().Add(time.Second+lateBy(j.every)))), task,
			gocron.WithName(j.name+" caught up"))
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", j.name, err)
		}
		s.planned(j)
	}
	scheduler.Start()
	return scheduler, nil
}

// lateBy keeps processes that started together from asking in step.
func lateBy(every time.Duration) time.Duration { return rand.N(every/20 + 1) }

func (s *sweeps) planned(j job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.runs[j.name]
	run.Next = next(j.name, j.every, time.Now())
	s.runs[j.name] = run
}

// turn runs a job if its present slot was not run yet, by anybody.
func (s *sweeps) turn(ctx context.Context, j job) {
	defer s.planned(j)
	now := time.Now()
	h, ours, err := s.app.leases.take(ctx, j.name, slot(j.name, j.every, now), now)
	if err == nil && !ours {
		return
	}
	if err == nil {
		_, err = s.execute(ctx, j, h)
	}
	if err != nil && ctx.Err() == nil {
		s.app.options.Log.WarnContext(ctx, "sweep failed", "sweep", j.name, "error", err)
	}
}

// byHand runs a sweep now, whatever its schedule.
func (s *sweeps) byHand(ctx context.Context, name string) (string, error) {
	for _, j := range s.jobs {
		if j.name == name {
			o, err := s.execute(ctx, j, held{})
			return o.text, err
		}
	}
	return "", fmt.Errorf("%w: %s", ErrNoSweep, name)
}

// execute runs a job on the minute's snapshot and reports it. Its context ends
// before its lease does.
func (s *sweeps) execute(ctx context.Context, j job, h held) (outcome, error) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, leaseFor-leaseMargin)
	defer cancel()
	b, err := s.app.board.snapshot(limited)
	var o outcome
	if err == nil {
		o, err = j.run(limited, b, time.Now())
	}
	s.report(j, o, err, began)
	if h.token != "" {
		err = errors.Join(err, s.app.leases.finish(context.WithoutCancel(ctx), h, o.text))
	}
	return o, err
}

func (s *sweeps) report(j job, o outcome, err error, began time.Time) {
	took := time.Since(began)
	s.app.telemetry.swept(j.name, took, err)
	s.app.options.Log.Info("sweep ran", "sweep", j.name, "result", o.text, "took", took.String(), "error", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.runs[j.name]
	run.Last, run.Took, run.Result, run.Error = began, took, o.text, ""
	if err != nil {
		run.Error = "did not finish: the log says why"
	}
	s.runs[j.name] = run
	if err == nil {
		s.findings[j.name] = o.findings
	}
}

// shown is what /ops shows of the sweeps.
func (s *sweeps) shown() (runs []web.SweepRun, findings []renewal.Finding, metrics renewal.Metrics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		runs = append(runs, s.runs[j.name])
		findings = append(findings, s.findings[j.name]...)
	}
	return runs, findings[:min(len(findings), findingsShownMax)], s.metrics
}

const findingsShownMax = 50
