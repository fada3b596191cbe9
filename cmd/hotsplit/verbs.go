package main

import "github.com/spf13/cobra"

// verbs lists every verb of the tool in the order of --help.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newDemoCmd(),
		newInitCmd(),
		newCheckCmd(),
		newMoveCmd(),
		newStartCmd(),
		newAdvanceCmd(),
		newStatusCmd(),
		newVerifyCmd(),
		newCompleteCmd(),
		newRollbackCmd(),
		newPauseCmd(),
		newResumeCmd(),
		newSetCmd(),
		newGuardCmd(),
		newSnapshotCmd(),
		newEventsCmd(),
		newArchiveCmd(),
		newDiagnoseCmd(),
		newPlanCmd(),
		newConsoleCmd(),
		newEmulateCmd(),
		newSimulateCmd(),
		newVectorsCmd(),
	}
}
