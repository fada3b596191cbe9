package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/heat"
	"github.com/hotsplit/hotsplit/migrate"
)

// console gathers what the page shows.
type console struct {
	options  *consoleOptions
	token    string
	spec     *migrate.Spec
	client   *dynamodb.Client
	recorder *heat.Recorder
	lifetime context.Context // of the actions: they outlive the request that began them
	actions  actions

	mu     sync.Mutex
	source string // of the heat, in words
	dark   string // why heat is not known
	move   moveState
	since  uint64 // last log entry seen
}

// moveState is the move as the ledger shows it.
type moveState struct {
	Known   bool             `json:"known"`
	Why     string           `json:"why,omitempty"` // it is not
	Status  *migrate.Status  `json:"status,omitempty"`
	Line    string           `json:"line,omitempty"`
	Control *migrate.Control `json:"control,omitempty"`
	Events  []string         `json:"events,omitempty"`
}

// pageState is what the page asks for every second.
type pageState struct {
	Now       time.Time      `json:"now"`
	Source    string         `json:"source"`
	Dark      string         `json:"dark,omitempty"`
	Paragraph string         `json:"paragraph"`
	Outcome   heat.Outcome   `json:"outcome"`
	Verdicts  []heat.Verdict `json:"verdicts"`
	From      time.Time      `json:"from"`
	To        time.Time      `json:"to"`
	Map       *heat.Map      `json:"map"`
	Callers   []keyCallers   `json:"callers"`
	Move      moveState      `json:"move"`
	Action    actionState    `json:"action"`
}

// keyCallers is who uses one key.
type keyCallers struct {
	heat.Resource
	Key     string      `json:"key"`
	Callers []heat.Part `json:"callers"`
}

func (c *console) state() pageState {
	report := c.recorder.Report()
	s := pageState{
		Now: time.Now().UTC(), Paragraph: report.Paragraph(), Outcome: report.Outcome(), Verdicts: report.Verdicts,
		From: report.From, To: report.To, Map: report.Map, Action: c.actions.state(),
	}
	for _, r := range report.Resources {
		for _, k := range r.Keys {
			if len(k.Callers) > 0 {
				s.Callers = append(s.Callers, keyCallers{r.Resource, k.Key, k.Callers})
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Source, s.Dark, s.Move = c.source, c.dark, c.move
	return s
}

const watchEvery = time.Second

// watch keeps heat and move fresh until ctx ends.
func (c *console) watch(ctx context.Context) {
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		c.lookAtMove(ctx)
		c.lookAtHeat(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

const eventsShown = 40

func (c *console) lookAtMove(ctx context.Context) {
	m := moveState{Why: "No spec: hotsplit console --spec hotsplit.yaml shows a move."}
	if c.spec != nil {
		m = c.readMove(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move = m
}

func (c *console) readMove(ctx context.Context) moveState {
	ledger, err := migrate.OpenLedger(c.client, *c.spec)
	if err != nil {
		return moveState{Why: err.Error()}
	}
	status, err := ledger.Status(ctx)
	if errors.Is(err, migrate.ErrNoRecord) {
		return moveState{Why: "No move has begun: 'hotsplit start' writes its record."}
	}
	if err != nil {
		return moveState{Why: "The move's record cannot be read: " + err.Error()}
	}
	m := moveState{Known: true, Status: &status, Line: status.String()}
	if record, err := ledger.Load(ctx); err == nil {
		m.Control = &record.Control
	}
	events, err := ledger.Events(ctx, eventsShown)
	if err != nil {
		m.Events = []string{"The events cannot be read: " + err.Error()}
		return m
	}
	for i := len(events) - 1; i >= 0; i-- {
		m.Events = append(m.Events, events[i].String())
	}
	return m
}

// lookAtHeat adds what happened since the last look.
func (c *console) lookAtHeat(ctx context.Context) {
	if len(c.options.traces) > 0 {
		return
	}
	source, dark := "", ""
	switch emulator, err := c.readLog(ctx); {
	case emulator && err == nil:
		source = "operation log of the emulator at " + c.options.endpoint
	case emulator:
		dark = "The emulator's log cannot be read: " + err.Error()
	case c.move.Known && len(c.move.Status.Members) > 0:
		source = "what the move's members report, averaged over seconds; refusals and callers within a member are not known"
		c.readMembers()
	default:
		dark = "Heat is not known: DynamoDB tells nobody its use by the second. Give --trace, have members report (migrate.Watcher.Count), or watch the emulator."
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source, c.dark = source, dark
}

// readMembers takes each member's own rates on each key as one second of use.
func (c *console) readMembers() {
	now := time.Now()
	for _, m := range c.move.Status.Members {
		for key, u := range m.Units {
			c.recorder.Observe(heat.Event{
				Time: now, Operation: "reported", Table: c.spec.Table, Index: c.spec.Index, Key: key,
				Caller: m.ID, Read: u.Read, Write: u.Write, Primary: true,
			})
		}
	}
}

// readTraces fills the recorder from files, once.
func (c *console) readTraces(cmd *cobra.Command) error {
	events, closeAll, err := openTraces(cmd.InOrStdin(), c.options.traces)
	if err != nil {
		return badInput(err)
	}
	defer closeAll()
	wanted := diagnose{table: c.options.table, index: c.options.index}
	for e, err := range events {
		if err != nil {
			return badInput(err)
		}
		if wanted.wants(e) {
			c.recorder.Observe(e)
		}
	}
	c.recorder.Flush()
	c.source = "trace " + strings.Join(c.options.traces, ", ")
	return nil
}
