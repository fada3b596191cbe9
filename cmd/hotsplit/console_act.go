package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// action is what a person at the page wants done. Sure says that she answered the
// first question with yes, as the command line asks it.
type action struct {
	Verb     string `json:"verb"`
	Argument string `json:"argument"` // of set: "budget=50 rate=0"; of pause: why
	Sure     string `json:"sure"`
}

// actionState is what the page shows of actions.
type actionState struct {
	Allowed  bool      `json:"allowed"`
	Running  string    `json:"running,omitempty"`
	Question *question `json:"question,omitempty"`
	Last     string    `json:"last,omitempty"`
	Failed   bool      `json:"failed,omitempty"`
}

// question is what an action under way has to know from a person.
type question struct {
	ID      int      `json:"id"`
	Text    string   `json:"text"`
	Members []string `json:"members,omitempty"`
}

// actions runs one action at a time.
type actions struct {
	console *console

	mu       sync.Mutex
	running  string
	question *question
	asked    int
	answers  chan string
	last     string
	failed   bool
	work     sync.WaitGroup
}

var verbsOfConsole = []string{"pause", "resume", "set", "advance", "complete", "rollback"}

// surely lists the verbs that need a yes before they begin.
var surely = []string{"advance", "complete", "rollback"}

func (a *actions) state() actionState {
	a.mu.Lock()
	defer a.mu.Unlock()
	return actionState{a.console.options.allowActions && a.console.spec != nil, a.running, a.question, a.last, a.failed}
}

// begin starts an action, or says why it does not.
func (a *actions) begin(what action) error {
	if !slices.Contains(verbsOfConsole, what.Verb) {
		return fmt.Errorf("%q is no action", what.Verb)
	}
	if slices.Contains(surely, what.Verb) && what.Sure != "yes" {
		return errors.New("not confirmed: answer yes")
	}
	settings, err := parseSettings(strings.Fields(what.Argument))
	if what.Verb == "set" && (err != nil || strings.TrimSpace(what.Argument) == "") {
		return fmt.Errorf("set: want budget=UNITS or rate=ROWS: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running != "" && slices.Contains(surely, what.Verb) {
		return fmt.Errorf("%s is still running", a.running)
	}
	if slices.Contains(surely, what.Verb) {
		a.running, a.last = what.Verb, ""
	}
	a.work.Go(func() { a.finish(what, a.run(what, settings)) })
	return nil
}

func (a *actions) finish(what action, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Contains(surely, what.Verb) {
		a.running, a.question = "", nil
	}
	a.last, a.failed = what.Verb+" is done", err != nil
	if err != nil {
		a.last = what.Verb + ": " + err.Error()
	}
}

func (a *actions) wait() { a.work.Wait() }

func (a *actions) run(what action, settings migrate.Settings) error {
	c, ctx := a.console, a.console.lifetime
	ledger, err := migrate.OpenLedger(c.client, *c.spec)
	if err != nil {
		return err
	}
	switch what.Verb {
	case "pause":
		return ledger.Pause(ctx, what.Argument)
	case "resume":
		return ledger.Resume(ctx)
	case "set":
		return ledger.Set(ctx, settings)
	}
	return a.drive(ctx, what.Verb)
}

// drive takes the lease for the verbs that change phases and move rows.
func (a *actions) drive(ctx context.Context, verb string) error {
	c := a.console
	runner, err := migrate.NewRunner(c.client, *c.spec, migrate.Options{Holder: "hotsplit console", Alone: c.options.alone, Confirm: a.confirm})
	if err != nil {
		return err
	}
	defer func() {
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
		defer cancel()
		// A lease that is not given up runs out by itself.
		_ = runner.Release(release)
	}()
	if err := runner.Start(ctx); err != nil {
		return err
	}
	switch verb {
	case "complete":
		return runner.Complete(ctx)
	case "rollback":
		_, err := runner.Rollback(ctx)
		return err
	}
	if runner.Record().Phase == shard.Verified {
		return errors.New("the next phase ends the reading of the old key: use complete")
	}
	_, err = runner.Advance(ctx)
	return err
}

const answerTimeMax = 10 * time.Minute

// confirm asks at the page what only a person knows.
func (a *actions) confirm(ctx context.Context, q migrate.Question) error {
	asked := &question{Text: q.Text}
	if q.Kind == migrate.QuestionAlone {
		asked.Text += " Answer yes if there is NO other process that reads or writes these rows."
	}
	for _, m := range q.Members {
		asked.Members = append(asked.Members, fmt.Sprintf("%s (%s, version %s)", m.ID, m.Role, m.Version))
	}
	answers := make(chan string, 1)
	a.mu.Lock()
	a.asked++
	asked.ID = a.asked
	a.question, a.answers = asked, answers
	a.mu.Unlock()
	limit := time.NewTimer(answerTimeMax)
	defer limit.Stop()
	select {
	case answer := <-answers:
		if answer == "yes" {
			return nil
		}
		return errNotConfirmed
	case <-limit.C:
		return fmt.Errorf("%w: nobody answered", errNotConfirmed)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer gives an answer to the question with that number, if it is still asked.
func (a *actions) answer(id int, text string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.question == nil || a.question.ID != id {
		return false
	}
	a.question = nil
	a.answers <- text
	return true
}
