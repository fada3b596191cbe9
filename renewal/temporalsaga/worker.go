package temporalsaga

import (
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"
)

// Registry is a worker, or what stands in for one.
type Registry interface {
	RegisterWorkflowWithOptions(any, workflow.RegisterOptions)
	RegisterActivityWithOptions(any, activity.RegisterOptions)
}

// Register makes the workflows and activities known to a worker, under the names
// that histories know them by.
func Register(registry Registry, activities *Activities) {
	registry.RegisterWorkflowWithOptions(Renewal, workflow.RegisterOptions{Name: WorkflowType})
	registry.RegisterWorkflowWithOptions(Cohort, workflow.RegisterOptions{Name: CohortType})
	for name, do := range map[string]any{
		activityOpen: activities.Open, activityLoad: activities.Load, activityMove: activities.Move,
		activityArchive: activities.Archive, activityQuote: activities.Quote, activitySend: activities.Send,
		activityExtend: activities.Extend, activityFind: activities.Find, activityStart: activities.Start,
	} {
		registry.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
}

// TaskQueue is the queue that a worker of this client's renewals polls.
func (c *Client) TaskQueue() string { return c.options.TaskQueue }
