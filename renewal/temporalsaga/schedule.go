package temporalsaga

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// ScheduleID is the schedule of the cohort walker; its walks are workflows
// whose ids begin with it.
const ScheduleID = "renewal-cohort-walker"

// Schedule says when the walker walks. Its zero value is what we use in
// production.
type Schedule struct {
	Every  time.Duration // 0 means 6 h
	Cohort CohortInput
}

// EnsureSchedule creates the walker's schedule, or brings the one that is there
// up to date. A walk that is due while one still walks is skipped: it would
// find the same leases. Walks missed while the server was down are caught up
// once, within an hour.
func (c *Client) EnsureSchedule(ctx context.Context, s Schedule) error {
	fill(&s.Every, 6*time.Hour)
	s.Cohort = s.Cohort.Filled()
	want := client.ScheduleOptions{
		ID:            ScheduleID,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: s.Every}}},
		Action:        c.walk(s.Cohort),
		Overlap:       enums.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Hour,
		Note:          "starts the renewals of leases that end within the horizon",
	}
	_, err := c.temporal.ScheduleClient().Create(ctx, want)
	if err == nil {
		return nil
	}
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return fmt.Errorf("create schedule %s: %w", ScheduleID, err)
	}
	err = c.temporal.ScheduleClient().GetHandle(ctx, ScheduleID).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(now client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			schedule := now.Description.Schedule
			schedule.Spec, schedule.Action = &want.Spec, want.Action
			return &client.ScheduleUpdate{Schedule: &schedule}, nil
		},
	})
	if err != nil {
		return fmt.Errorf("update schedule %s: %w", ScheduleID, err)
	}
	return nil
}

func (c *Client) walk(in CohortInput) *client.ScheduleWorkflowAction {
	return &client.ScheduleWorkflowAction{
		ID: ScheduleID, Workflow: CohortType, Args: []any{in}, TaskQueue: c.options.TaskQueue,
	}
}

// WalkNow has the walker walk at once, under the same overlap policy.
func (c *Client) WalkNow(ctx context.Context) error {
	handle := c.temporal.ScheduleClient().GetHandle(ctx, ScheduleID)
	if err := handle.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP}); err != nil {
		return fmt.Errorf("trigger schedule %s: %w", ScheduleID, err)
	}
	return nil
}
