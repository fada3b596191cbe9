package temporalsaga

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hotsplit/hotsplit/renewal"
)

// answersMax is how many answered requests a renewal remembers. The saga's own
// operation ids outlive it.
const answersMax = 200

// pending is a request that waits for the loop. Behind a signal nobody waits: what
// is wrong with one is found by the store and goes on the timeline.
type pending struct {
	Request
	answer Answer
	err    error
	done   bool
}

// answered is a request that was answered, as later runs must know it.
type answered struct {
	ID     string        `json:"id"`
	Body   string        `json:"body"`
	State  renewal.State `json:"state"`
	Reason string        `json:"reason,omitempty"` // why it was refused
}

// listen registers all ways in before the first activity, so that nothing that
// arrives early is turned away.
func (r *run) listen(ctx workflow.Context) error {
	if err := workflow.SetQueryHandlerWithOptions(ctx, queryTimeline, r.timeline, workflow.QueryHandlerOptions{
		Description: "what happened to this renewal, and what it waits for",
	}); err != nil {
		return err
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var q Request
			workflow.GetSignalChannel(ctx, signalRequest).Receive(ctx, &q)
			r.inbox = append(r.inbox, &pending{Request: q})
		}
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			workflow.GetSignalChannel(ctx, signalNudge).Receive(ctx, nil)
			r.nudged = true
		}
	})
	return workflow.SetUpdateHandlerWithOptions(ctx, updateRequest, r.request, workflow.UpdateHandlerOptions{
		Validator:   func(q Request) error { return answer(q.Validate()) },
		Description: "asks for a move and answers with the saga",
	})
}

// request is the update handler: it queues and waits for the loop, which alone
// writes the saga.
func (r *run) request(ctx workflow.Context, q Request) (Answer, error) {
	p := &pending{Request: q}
	r.inbox = append(r.inbox, p)
	if err := workflow.Await(ctx, func() bool { return p.done }); err != nil {
		return Answer{}, err
	}
	return p.answer, p.err
}

// called says that the loop should look up from what it waits for.
func (r *run) called(ctx workflow.Context) bool {
	return len(r.inbox) > 0 || r.nudged || r.full(ctx)
}

// serve handles what has arrived, until the saga stands elsewhere.
func (r *run) serve(ctx workflow.Context) error {
	state := r.saga.State
	if r.nudged {
		r.nudged = false
		if err := r.reload(ctx); err != nil {
			return err
		}
	}
	for len(r.inbox) > 0 && r.saga.State == state {
		if err := r.serveNext(ctx); err != nil {
			return err
		}
	}
	return nil
}

// serveNext answers the oldest request. What the store refuses is the asker's
// answer; what it cannot do at all is the renewal's error, and the asker's too.
func (r *run) serveNext(ctx workflow.Context) error {
	p := r.inbox[0]
	r.inbox = r.inbox[1:]
	defer func() { p.done = true }()
	r.handled++
	if before, ok := r.answeredBefore(p.ID); ok {
		p.answer, p.err = r.repeat(before, p.Request)
		return nil
	}
	err := r.ask(ctx, p.Request)
	reason := ""
	if refused := (*temporal.ApplicationError)(nil); errors.As(err, &refused) && refused.Type() == typeRefused {
		reason = refused.Message()
		p.err, err = temporal.NewNonRetryableApplicationError(reason, typeRefused, nil), nil
		r.note(ctx, "refused", reason)
	}
	if err != nil {
		p.err = err
		return err
	}
	r.remember(answered{ID: p.ID, Body: p.body(), State: r.saga.State, Reason: reason})
	p.answer = Answer{Saga: r.saga, Body: p.body()}
	return nil
}

// ask makes the move that a request asks for. A request without a state is
// talk: it goes on the timeline only.
func (r *run) ask(ctx workflow.Context, q Request) error {
	moved, err := r.move(ctx, Move{
		Op: q.ID, From: q.From, To: q.To, By: q.By, Kind: q.Kind, Text: q.Text, RentCents: q.RentCents, Asked: true,
	})
	if err != nil {
		return err
	}
	what := string(q.To)
	if what == "" {
		what = "note"
	}
	r.note(ctx, what, q.Text)
	return r.know(ctx, moved.Saga)
}

func (r *run) answeredBefore(id string) (answered, bool) {
	for _, a := range r.Answers {
		if a.ID == id {
			return a, true
		}
	}
	return answered{}, false
}

// repeat gives a repeated request its first answer.
func (r *run) repeat(before answered, q Request) (Answer, error) {
	if before.Body == q.body() && before.Reason != "" {
		return Answer{}, temporal.NewNonRetryableApplicationError(before.Reason, typeRefused, nil)
	}
	saga := r.saga
	saga.State = before.State
	return Answer{Saga: saga, Body: before.Body}, nil
}

func (r *run) remember(a answered) {
	r.Answers = append(r.Answers, a)
	if len(r.Answers) > answersMax {
		r.Answers = r.Answers[len(r.Answers)-answersMax:]
	}
}

// settle answers all that has arrived, signals too, before this run ends.
func (r *run) settle(ctx workflow.Context) error {
	for {
		for {
			var q Request
			if !workflow.GetSignalChannel(ctx, signalRequest).ReceiveAsync(&q) {
				break
			}
			r.inbox = append(r.inbox, &pending{Request: q})
		}
		for len(r.inbox) > 0 {
			if err := r.serveNext(ctx); err != nil {
				return err
			}
		}
		if workflow.AllHandlersFinished(ctx) {
			return nil
		}
		if err := workflow.Await(ctx, func() bool { return len(r.inbox) > 0 || workflow.AllHandlersFinished(ctx) }); err != nil {
			return err
		}
	}
}

// drain answers late requests on an archived renewal, so that none is left
// hanging when the workflow ends.
func (r *run) drain(ctx workflow.Context) error {
	r.waiting = ""
	return r.settle(ctx)
}
