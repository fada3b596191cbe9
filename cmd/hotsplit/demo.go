package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/cmd/hotsplit/demo"
)

type demoFlags struct {
	options                     demo.Options
	input, spec, report, output string
	json                        bool
}

func newDemoCmd() *cobra.Command {
	f := &demoFlags{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a hot key being spread over N keys, on the embedded DynamoDB",
		Long: `demo starts the embedded DynamoDB, loads lease-renewal sagas on one hot index key, and
runs an application's traffic on them: list pages that ask person by person, sweeps that
read everything, state transitions, new sagas, detail pages and inbound look-ups. Under
that traffic it moves the rows to shard keys, and goes on for as long again. Every answer
is compared with a model of what must be visible.

It writes a report with a heat map, and exits 0 only if the move is proved: complete, no
row on the old key, none missed or doubled by a reader, every owner's rows the same.

--input takes your own rows, in DynamoDB's export format: one {"Item":{…}} a line, gzipped
or not. --spec then says what they are. The traffic changes none of their attributes.`,
		Example: `  hotsplit demo
  hotsplit demo --rows 5000 --shards 32
  hotsplit demo --naive-dual-read                    # leaves the moving set out: exits 1
  hotsplit demo --input export.jsonl.gz --spec hotsplit.yaml --output moved.jsonl
  hotsplit demo --json | jq .after`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	o := &f.options
	cmd.Flags().IntVar(&o.Rows, "rows", demo.DefaultRows, "rows to make")
	cmd.Flags().IntVar(&o.Persons, "persons", 0, "owners of the rows (default: one for two rows, as in production)")
	cmd.Flags().IntVar(&o.Shards, "shards", demo.DefaultShards, "keys to spread the rows over")
	cmd.Flags().Int64Var(&o.Seed, "seed", 1, "seed of every draw: rows, traffic, placement on partitions, index lag")
	cmd.Flags().IntVar(&o.Seconds, "seconds", demo.DefaultSeconds, "seconds of traffic before the move, and after it")
	cmd.Flags().StringVar(&f.input, "input", "", "`file` with your own rows, in DynamoDB's export format")
	cmd.Flags().StringVar(&f.spec, "spec", "", "spec `file` that says what the rows of --input are")
	cmd.Flags().StringVar(&f.output, "output", "", "`file` to write the rows to after the move, in the same format")
	cmd.Flags().StringVar(&f.report, "report", "hotsplit-demo.html", "`file` to write the report to; empty for none")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object with the figures and nothing else")
	cmd.Flags().BoolVar(&o.NaiveDualRead, "naive-dual-read", false, "ask both layouts but ignore rows on their way, to see the checker fail")
	return cmd
}

func (f *demoFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if err := f.readInput(); err != nil {
		return err
	}
	screen := newDemoScreen(cmd.ErrOrStderr(), f.json)
	f.options.Observe = screen.show
	result, err := demo.Run(cmd.Context(), f.options)
	screen.close()
	if errors.Is(err, demo.ErrInput) {
		return badInput(err)
	}
	if err != nil {
		return err
	}
	if err := f.write(result); err != nil {
		return err
	}
	if err := f.print(cmd.OutOrStdout(), result); err != nil {
		return err
	}
	if len(result.Faults()) > 0 {
		return wrong(nil)
	}
	return nil
}

// check names every flag whose value cannot be used.
func (f *demoFlags) check(cmd *cobra.Command) error {
	var faults []string
	for _, bound := range []struct {
		name             string
		value, low, high int
	}{
		{"rows", f.options.Rows, 1, 1_000_000}, {"persons", f.options.Persons, 0, 1_000_000},
		{"shards", f.options.Shards, 1, 1000}, {"seconds", f.options.Seconds, 1, 120},
	} {
		if bound.name == "persons" && cmd.Flags().Changed("persons") {
			bound.low = 1
		}
		if bound.value < bound.low || bound.value > bound.high {
			faults = append(faults, fmt.Sprintf("--%s is %d, want %d to %d", bound.name, bound.value, bound.low, bound.high))
		}
	}
	if (f.input == "") != (f.spec == "") {
		faults = append(faults, "--input and --spec go together: the spec says what the rows of the file are")
	}
	if len(faults) > 0 {
		return usageError(cmd, errors.New(strings.Join(faults, "; ")))
	}
	return nil
}

func (f *demoFlags) readInput() error {
	if f.input == "" {
		return nil
	}
	spec, err := (&specFlag{f.spec}).read()
	if err != nil {
		return err
	}
	file, err := os.Open(f.input)
	if err != nil {
		return badInput(fmt.Errorf("--input: %w", err))
	}
	defer file.Close()
	rows, err := demo.ReadExport(file)
	if err != nil {
		return badInput(fmt.Errorf("%s: %w", f.input, err))
	}
	f.options.Input, f.options.Spec = rows, &spec
	return nil
}

func (f *demoFlags) write(result *demo.Result) error {
	if f.report != "" {
		if err := writeFile(f.report, result.WriteReport); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if f.output != "" {
		if err := writeFile(f.output, result.WriteRows); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	return nil
}

func (f *demoFlags) print(w io.Writer, result *demo.Result) error {
	if f.json {
		return printJSON(w, result)
	}
	fmt.Fprintf(w, "\n%s\n%s\n", result.Table(), result.Verdict())
	if f.report != "" {
		fmt.Fprintf(w, "\nReport: %s\n", f.report)
	}
	return nil
}

// writeFile writes beside the file and renames, so that a failure or Ctrl-C
// leaves what was there.
func writeFile(path string, write func(io.Writer) error) error {
	temp := path + ".partial"
	file, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := errors.Join(write(file), file.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
