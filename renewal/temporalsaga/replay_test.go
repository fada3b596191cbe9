package temporalsaga_test

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

func replayer(t *testing.T, renewal any) worker.WorkflowReplayer {
	t.Helper()
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(renewal, workflow.RegisterOptions{Name: temporalsaga.WorkflowType})
	r.RegisterWorkflowWithOptions(temporalsaga.Cohort, workflow.RegisterOptions{Name: temporalsaga.CohortType})
	return r
}

func histories(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded histories: %v", err)
	}
	return files
}

// TestReplay replays every history that a release has written. A history is
// never regenerated: renewals that began under an old release run for months.
// New ones are added by `cd devstack && go test ./e2e -run Histories -record v3`.
func TestReplay(t *testing.T) {
	// What a worker finds around it differs from what the recording one found.
	t.Setenv("TZ", "Pacific/Kiritimati")
	t.Setenv("HOTSPLIT_SHARDS", "7")
	r := replayer(t, temporalsaga.Renewal)
	for _, file := range histories(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if err := r.ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReplayFindsChangedCode plants the fault that replays are for: a worker
// whose workflow does something else first.
func TestReplayFindsChangedCode(t *testing.T) {
	r := replayer(t, func(ctx workflow.Context, in temporalsaga.Input) (temporalsaga.Snapshot, error) {
		if err := workflow.Sleep(ctx, 1); err != nil {
			return temporalsaga.Snapshot{}, err
		}
		return temporalsaga.Renewal(ctx, in)
	})
	if err := r.ReplayWorkflowHistoryFromJSONFile(nil, "testdata/histories/v1-accepted.json"); err == nil {
		t.Error("replay took a history for the work of another workflow")
	}
}
