package main

import "github.com/spf13/cobra"

// verbs lists every verb of the tool in the order of --help.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		newVectorsCmd(),
	}
}
