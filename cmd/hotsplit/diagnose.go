package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/heat"
	"github.com/hotsplit/hotsplit/sim"
)

// diagnosis is what diagnose finds and plan reads.
type diagnosis struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	heat.Report
	Outcome heat.Outcome `json:"outcome"`
	Shapes  []shape      `json:"shapes,omitempty"`
}

const (
	diagnosisFormat  = "hotsplit-diagnosis"
	diagnosisVersion = 1
)

// shape is what lies or happens on one key of an index: the owners, with their
// part, and how large rows are where that was seen.
type shape struct {
	heat.Resource
	Key        string          `json:"key"`
	Owners     []sim.OwnerLoad `json:"owners"`
	Of         string          `json:"of"` // what an owner's load is: "units" or "rows"
	Rows       int             `json:"rows,omitempty"`
	RowBytes   int             `json:"rowBytes,omitempty"`
	EntryBytes int             `json:"entryBytes,omitempty"`
}

type diagnose struct {
	connection
	log, cloudwatch, scan bool
	table, index, owner   string
	since                 time.Duration
	separator             string
	yes, json             bool
	html, save            string
}

func newDiagnoseCmd() *cobra.Command {
	d := &diagnose{}
	cmd := &cobra.Command{
		Use:   "diagnose [trace.jsonl …]",
		Short: "Say which key is hot, who heats it, and what comes next",
		Long: `diagnose reads what was asked of a table and says what is wrong in one paragraph,
with the keys and callers behind it and the command that comes next. It reads, by
choice, one of
  trace files       as heat.Instrument writes them (docs/trace-format.md); - is stdin
  --log             the operation log of the emulator at --endpoint
  --cloudwatch      throttle metrics and Contributor Insights of --table
  --scan            the rows of --index of --table: how many on each key. It costs
                    read units, says how many, and asks first

Figures from traces and the log are by the second, and name keys and callers.
CloudWatch knows minutes, and keys only with Contributor Insights. A scan knows rows,
not traffic, so what it says of heat is always "cannot tell".

Exit codes: 0 nothing hot, 1 hot, 2 bad input, 3 cannot tell.`,
		Example: `  hotsplit diagnose trace.jsonl --save diagnosis.json
  hotsplit diagnose --log --endpoint http://127.0.0.1:8000
  hotsplit diagnose --cloudwatch --table propflow-prod --since 6h
  hotsplit diagnose --scan --table propflow-prod --index renewal-saga-person-index`,
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd, args) },
	}
	d.connection.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&d.log, "log", false, "read the operation log of the emulator at --endpoint")
	f.BoolVar(&d.cloudwatch, "cloudwatch", false, "read CloudWatch's metrics and Contributor Insights of --table")
	f.BoolVar(&d.scan, "scan", false, "count the rows of --index by key")
	f.StringVar(&d.table, "table", "", "`name` of the table; limits traces and the log to it")
	f.StringVar(&d.index, "index", "", "`name` of the index; limits traces and the log to it")
	f.StringVar(&d.owner, "owner", "", "`attribute` that holds the owner, for --scan (default: the sort key up to the separator)")
	f.StringVar(&d.separator, "separator", "#", "`text` between owner and time in sort keys")
	f.DurationVar(&d.since, "since", 3*time.Hour, "how far back --cloudwatch looks")
	f.BoolVar(&d.yes, "yes", false, "pay for --scan without being asked")
	f.BoolVar(&d.json, "json", false, "print the diagnosis as JSON")
	f.StringVar(&d.html, "html", "", "write the heat map and the verdicts to one self-contained HTML `file`")
	f.StringVar(&d.save, "save", "", "write the diagnosis to a JSON `file`, for 'hotsplit plan'")
	return cmd
}

func (d *diagnose) run(cmd *cobra.Command, traces []string) error {
	found, err := d.find(cmd, traces)
	if err != nil {
		return err
	}
	found.Format, found.Version, found.Outcome = diagnosisFormat, diagnosisVersion, found.Report.Outcome()
	if err := d.files(found); err != nil {
		return err
	}
	if d.json {
		err = printJSON(cmd.OutOrStdout(), found)
	} else {
		_, err = fmt.Fprint(cmd.OutOrStdout(), diagnosisText(found, d.save))
	}
	if err != nil {
		return err
	}
	switch found.Outcome {
	case heat.Hot:
		return wrong(nil)
	case heat.Untold:
		return unknown(nil)
	}
	return nil
}

// find reads the one source that was named.
func (d *diagnose) find(cmd *cobra.Command, traces []string) (diagnosis, error) {
	named := 0
	for _, given := range []bool{len(traces) > 0, d.log, d.cloudwatch, d.scan} {
		if given {
			named++
		}
	}
	if named != 1 {
		return diagnosis{}, usageError(cmd, errors.New("name one source: trace files, --log, --cloudwatch or --scan"))
	}
	if (d.cloudwatch || d.scan) && d.table == "" {
		return diagnosis{}, usageError(cmd, errors.New("--table is missing"))
	}
	if d.scan && d.index == "" {
		return diagnosis{}, usageError(cmd, errors.New("--index is missing: a scan counts the rows of one index"))
	}
	switch {
	case d.cloudwatch:
		return d.fromCloudWatch(cmd.Context(), time.Now())
	case d.scan:
		return d.fromScan(cmd)
	case d.log:
		return d.fromLog(cmd.Context())
	}
	return d.fromTraces(cmd.Context(), cmd.InOrStdin(), traces)
}

func (d *diagnose) files(found diagnosis) error {
	if d.save != "" {
		text, err := json.MarshalIndent(found, "", "  ")
		if err != nil {
			return fmt.Errorf("diagnosis: %w", err)
		}
		if err := os.WriteFile(d.save, append(text, '\n'), 0o644); err != nil {
			return badInput(err)
		}
	}
	if d.html != "" {
		page, err := diagnosisHTML(found)
		if err != nil {
			return fmt.Errorf("diagnosis page: %w", err)
		}
		if err := os.WriteFile(d.html, page, 0o644); err != nil {
			return badInput(err)
		}
	}
	return nil
}

// readDiagnosis reads what --save wrote.
func readDiagnosis(path string) (diagnosis, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return diagnosis{}, badInput(fmt.Errorf("--diagnosis: %w", err))
	}
	var found diagnosis
	if err := json.Unmarshal(text, &found); err != nil {
		return found, badInput(fmt.Errorf("diagnosis %s: %w", path, err))
	}
	if found.Format != diagnosisFormat || found.Version != diagnosisVersion {
		return found, badInput(fmt.Errorf("diagnosis %s: format %q version %d; this program reads %q version %d, as 'hotsplit diagnose --save' writes it",
			path, found.Format, found.Version, diagnosisFormat, diagnosisVersion))
	}
	return found, nil
}

// wants says that an event is about the table and index that were asked for.
func (d *diagnose) wants(e heat.Event) bool {
	return (d.table == "" || e.Table == d.table) && (d.index == "" || e.Index == d.index)
}

// observe folds events into a report and the owners behind each key.
func (d *diagnose) observe(ctx context.Context, source string, events func(yield func(heat.Event, error) bool)) (diagnosis, error) {
	recorder := heat.NewRecorder(heat.Options{Span: true, Separator: d.separator})
	owners := ownerCounts{}
	for e, err := range events {
		if err != nil {
			return diagnosis{}, err
		}
		if err := ctx.Err(); err != nil {
			return diagnosis{}, err
		}
		if d.wants(e) {
			recorder.Observe(e)
			owners.count(e, d.separator)
		}
	}
	recorder.Flush()
	found := diagnosis{Report: recorder.Report()}
	found.Source = source
	found.Shapes = owners.shapes()
	return found, nil
}
