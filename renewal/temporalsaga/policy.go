package temporalsaga

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// patient is the policy of every activity: it backs off for as long as the store
// throttles, because a renewal has weeks and must not fail for a busy minute.
// Only what can never succeed ends it.
func (r *run) patient(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, activityOptions(r.input.Terms))
}

func activityOptions(t Terms) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: t.Attempt,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        t.RetryMin,
			BackoffCoefficient:     2,
			MaximumInterval:        t.RetryMax,
			NonRetryableErrorTypes: []string{typeInput, typeRefused},
		},
	}
}
