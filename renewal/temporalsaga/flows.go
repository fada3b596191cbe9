package temporalsaga

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/hotsplit/hotsplit/renewal"
)

const (
	flowsPageItems = 1000
	flowPagesMax   = 1000
	stuckAttempts  = 10 // attempts after which a task is called stuck
)

// Flows lists the renewal workflows that Temporal knows, running and closed.
func (c *Client) Flows(ctx context.Context) ([]Flow, error) {
	var flows []Flow
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.namespace, PageSize: flowsPageItems,
		Query: fmt.Sprintf("WorkflowType = '%s'", WorkflowType),
	}
	for range flowPagesMax {
		page, err := c.temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list workflows after %d: %w", len(flows), c.classify(ctx, err))
		}
		for _, info := range page.GetExecutions() {
			if info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
				flows = append(flows, flowOf(info))
			}
		}
		request.NextPageToken = page.GetNextPageToken()
		if len(request.NextPageToken) == 0 {
			return flows, nil
		}
	}
	return nil, fmt.Errorf("list workflows: more than %d pages", flowPagesMax)
}

func flowOf(info *workflow.WorkflowExecutionInfo) Flow {
	flow := Flow{
		WorkflowID: info.GetExecution().GetWorkflowId(),
		Running:    info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
		StartedAt:  info.GetStartTime().AsTime(),
	}
	if payload := info.GetSearchAttributes().GetIndexedFields()[attributeState.GetName()]; payload != nil {
		var state string
		if converter.GetDefaultDataConverter().FromPayload(payload, &state) == nil {
			flow.State = renewal.State(state)
		}
	}
	return flow
}

// Stuck looks closely at one workflow: a task of it that has failed many times
// is a finding. It costs a request each, so the sweep asks for those only that
// have stood still for long.
func (c *Client) Stuck(ctx context.Context, s Standing) (Finding, bool, error) {
	f := Finding{Fault: StuckTask, WorkflowID: s.Lease.WorkflowID(), SagaID: s.Saga.ID, Lease: s.Lease}
	description, err := c.describe(ctx, f.WorkflowID)
	if err != nil {
		return f, false, fmt.Errorf("describe %s: %w", f.WorkflowID, c.classify(ctx, err))
	}
	if task := description.GetPendingWorkflowTask(); task.GetAttempt() >= stuckAttempts {
		f.Detail = fmt.Sprintf("workflow task in its attempt %d", task.GetAttempt())
		return f, true, nil
	}
	for _, activity := range description.GetPendingActivities() {
		if activity.GetAttempt() >= stuckAttempts {
			f.Detail = fmt.Sprintf("activity %s in its attempt %d: %s", activity.GetActivityType().GetName(),
				activity.GetAttempt(), cut(activity.GetLastFailure().GetMessage(), eventTextBytesMax))
			return f, true, nil
		}
	}
	return f, false, nil
}

func (c *Client) describe(ctx context.Context, workflowID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return c.temporal.WorkflowService().DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: c.namespace, Execution: &common.WorkflowExecution{WorkflowId: workflowID},
	})
}

// Repair heals what is safe to heal and says whether it did something. It looks
// at the workflow itself first: the list may be late.
func (c *Client) Repair(ctx context.Context, f Finding) (repaired bool, err error) {
	if !f.Fault.Repairable() {
		return false, nil
	}
	description, err := c.describe(ctx, f.WorkflowID)
	var missing *serviceerror.NotFound
	if err != nil && !errors.As(err, &missing) {
		return false, fmt.Errorf("describe %s: %w", f.WorkflowID, c.classify(ctx, err))
	}
	if description.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return f.Fault == Behind, c.Nudge(ctx, f.WorkflowID)
	}
	return c.Restart(ctx, f.Lease, f.SagaID)
}
