package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/cmd/renewald/portfolio"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

func newLeasesCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "leases", Short: "the portfolio that the cohort walker walks"}
	cmd.AddCommand(newLeasesImportCmd())
	return cmd
}

func newLeasesImportCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "write the leases of a CSV file into the table; - reads standard input",
		Long: `Import writes one item for each line of a CSV file with the header

  id,personId,personName,propertyId,unit,ends,rent,termMonths

in any order; personName, rent and termMonths may be missing (12 months then). Dates are
2027-03-31, rents 1234.50. A file with a bad line writes nothing, and every bad line is named.
It can be repeated: a lease that is there takes the new fields, but its end never moves back.`,
		RunE: importLeases,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{errors.New("want one CSV file, or -")}
			}
			return nil
		},
	}
	addTableFlags(cmd)
	return cmd
}

func importLeases(cmd *cobra.Command, args []string) error {
	leases, err := readLeases(cmd.InOrStdin(), args[0])
	if err != nil {
		return err
	}
	options := tableOptions(cmd)
	options.Listen, options.NoSweeps, options.Temporal = "127.0.0.1:0", true, ""
	a, err := app.New(cmd.Context(), options)
	if err != nil {
		return err
	}
	defer a.Close()
	done, err := a.Portfolio().Import(cmd.Context(), leases)
	if err != nil {
		return fmt.Errorf("%d of %d leases written: %w", done.Written, len(leases), err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d leases written, %d kept because they end later already\n", done.Written, done.Kept)
	return nil
}

func readLeases(in io.Reader, path string) ([]temporalsaga.Lease, error) {
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, &usageError{err}
		}
		defer file.Close()
		in = file
	}
	leases, err := portfolio.ParseCSV(in)
	if errors.Is(err, temporalsaga.ErrInput) {
		return nil, &usageError{err}
	}
	return leases, err
}
