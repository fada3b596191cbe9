package main

import (
	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/shard"
)

func newVectorsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "vectors",
		Short: "Print test vectors of the shard function as JSON",
		Long: `vectors prints a JSON array that an implementation in another language checks
itself against: the owner's UTF-8 text, the first 8 bytes of its SHA-256 in hex,
and the shard and the key for a base and a count. Count 0 is the unsharded layout.`,
		Example: `  hotsplit vectors > vectors.json`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printJSON(cmd.OutOrStdout(), shard.Vectors())
		},
	}
}
