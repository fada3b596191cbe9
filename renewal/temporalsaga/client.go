package temporalsaga

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Options tunes a Client and its worker. The zero value is what we use in
// production.
type Options struct {
	TaskQueue string        // "" means "renewals"
	Terms     Terms         // for renewals that this client starts
	AnswerMax time.Duration // longest wait for an answer; 0 means 10 s
}

func (o Options) withDefaults() Options {
	fill(&o.TaskQueue, "renewals")
	fill(&o.AnswerMax, 10*time.Second)
	o.Terms = o.Terms.withDefaults()
	return o
}

// Client reaches the renewals of one namespace.
type Client struct {
	temporal  client.Client
	namespace string
	options   Options
}

// NewClient speaks to renewals through a connected client of that namespace.
func NewClient(c client.Client, namespace string, options Options) *Client {
	return &Client{temporal: c, namespace: namespace, options: options.withDefaults()}
}

// Start starts the renewal of a lease's present term, or finds it running or
// finished: started says which. sagaID is "" for a new saga.
func (c *Client) Start(ctx context.Context, lease Lease, sagaID string) (started bool, err error) {
	return c.start(ctx, lease, sagaID, c.options.Terms, enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
}

// StartWith is Start under terms of its own.
func (c *Client) StartWith(ctx context.Context, lease Lease, terms Terms) (started bool, err error) {
	return c.start(ctx, lease, "", terms, enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
}

// Restart starts it also when an earlier workflow has closed: the saga row says
// where to go on. A running one is left alone.
func (c *Client) Restart(ctx context.Context, lease Lease, sagaID string) (started bool, err error) {
	return c.start(ctx, lease, sagaID, c.options.Terms, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
}

func (c *Client) start(ctx context.Context, lease Lease, sagaID string, terms Terms, reuse enums.WorkflowIdReusePolicy) (bool, error) {
	if err := lease.Validate(); err != nil {
		return false, err
	}
	_, err := c.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: lease.WorkflowID(), TaskQueue: c.options.TaskQueue,
		WorkflowIDReusePolicy:                    reuse,
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		TypedSearchAttributes:                    lease.attributes(),
	}, WorkflowType, NewInput(lease, sagaID, terms))
	var known *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &known):
		return false, nil
	default:
		return false, fmt.Errorf("start %s: %w", lease.WorkflowID(), c.classify(ctx, err))
	}
}

// Ask asks a renewal for a move and waits for the answer. The same request may
// be asked again, by anybody, at any time: it is done once.
func (c *Client) Ask(ctx context.Context, workflowID string, q Request) (Snapshot, error) {
	if err := q.Validate(); err != nil {
		return Snapshot{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.AnswerMax)
	defer cancel()
	handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateID: q.ID, UpdateName: updateRequest, Args: []any{q},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	var answer Answer
	if err == nil {
		err = handle.Get(ctx, &answer)
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("ask %s for %s: %w", workflowID, q.To, c.classify(ctx, err))
	}
	if answer.Body != q.body() {
		return Snapshot{}, fmt.Errorf("ask %s for %s with id %s: %w", workflowID, q.To, q.ID, ErrOtherBody)
	}
	return answer.Saga, nil
}

// Tell leaves a request with a renewal without waiting for the answer. It is
// idempotent like Ask, and what the renewal refuses is on its timeline only.
func (c *Client) Tell(ctx context.Context, workflowID string, q Request) error {
	if err := q.Validate(); err != nil {
		return err
	}
	if err := c.temporal.SignalWorkflow(ctx, workflowID, "", signalRequest, q); err != nil {
		return fmt.Errorf("tell %s of %s: %w", workflowID, q.To, c.classify(ctx, err))
	}
	return nil
}

// Nudge tells a renewal that its saga was changed by another hand.
func (c *Client) Nudge(ctx context.Context, workflowID string) error {
	if err := c.temporal.SignalWorkflow(ctx, workflowID, "", signalNudge, nil); err != nil {
		return fmt.Errorf("nudge %s: %w", workflowID, c.classify(ctx, err))
	}
	return nil
}

// Timeline asks a renewal, running or closed, what happened to it.
func (c *Client) Timeline(ctx context.Context, workflowID string) (Timeline, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.AnswerMax)
	defer cancel()
	var timeline Timeline
	value, err := c.temporal.QueryWorkflow(ctx, workflowID, "", queryTimeline)
	if err == nil {
		err = value.Get(&timeline)
	}
	if err != nil {
		return Timeline{}, fmt.Errorf("ask %s for its timeline: %w", workflowID, c.classify(ctx, err))
	}
	return timeline, nil
}

// classify turns what Temporal and the workflow answer into this package's
// errors, so that callers need no knowledge of either.
func (c *Client) classify(ctx context.Context, err error) error {
	var application *temporal.ApplicationError
	var missing *serviceerror.NotFound
	var invalid *serviceerror.InvalidArgument
	switch {
	case errors.As(err, &application) && application.Type() == typeRefused:
		return fmt.Errorf("%w: %s", ErrRefused, application.Message())
	case errors.As(err, &application) && application.Type() == typeInput:
		return &InputError{Subject: "workflow", Faults: []string{application.Message()}}
	case errors.As(err, &application) && application.Type() == typeClosed:
		return fmt.Errorf("%w: %s", ErrNotRunning, application.Message())
	case errors.As(err, &missing):
		return fmt.Errorf("%w: %w", ErrNotRunning, err)
	case errors.As(err, &invalid):
		return &InputError{Subject: "temporal", Faults: []string{invalid.Message}}
	case errors.Is(ctx.Err(), context.Canceled):
		return err
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}
