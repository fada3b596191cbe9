package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/heat"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
	"github.com/hotsplit/hotsplit/sim"
)

type plan struct {
	connection
	diagnoses         []string
	table, index, key string
	base              string
	input             sim.PlanInput
	keys              int
	spec              string
	json              bool
}

func newPlanCmd() *cobra.Command {
	p := &plan{}
	cmd := &cobra.Command{
		Use:   "plan --diagnosis diagnosis.json",
		Short: "Say how many keys help, what they really buy, and what the move costs",
		Long: `plan weighs 1 to 128 shard keys for the key that a diagnosis found, from its owners'
real distribution: how heavy the heaviest shard becomes, what throughput the keys
reach on the physical partitions that exist, after DynamoDB has split for heat and at
the limit, what reading everything costs more, and what the move takes. It recommends
a number and a warm throughput with reasons, or says why sharding is the wrong cure.

Give --diagnosis twice to join traffic (from a trace or CloudWatch) with rows (from
--scan). With --spec it also drafts the spec of the move from the live table.

Exit codes: 0 sharding helps, 1 it is not the cure, 2 bad input, 3 could not find out.`,
		Example: `  hotsplit plan --diagnosis diagnosis.json
  hotsplit plan --diagnosis traffic.json --diagnosis rows.json --headroom 4
  hotsplit plan --diagnosis diagnosis.json --spec hotsplit.yaml --endpoint http://127.0.0.1:8000`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd) },
	}
	p.connection.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&p.diagnoses, "diagnosis", nil, "`file` that 'hotsplit diagnose --save' wrote; twice to join traffic and rows")
	f.StringVar(&p.table, "table", "", "`name` of the table (default: the diagnosis's worst verdict's)")
	f.StringVar(&p.index, "index", "", "`name` of the index (default: likewise)")
	f.StringVar(&p.key, "key", "", "key `value` to spread (default: likewise)")
	f.StringVar(&p.base, "base", "", "`text` before the shard number (default: the key's own value)")
	f.IntVar(&p.keys, "keys", 0, "`number` of keys to plan for in place of the recommended one")
	f.IntVar(&p.input.Partitions, "partitions", 4, "physical partitions of the index: 4 when fresh, more when it was warmed")
	f.Float64Var(&p.input.Headroom, "headroom", 2, "growth to leave room for, as a `factor`")
	f.Uint64Var(&p.input.Seed, "seed", 1, "of the random placements")
	f.Float64Var(&p.input.AllReadsHour, "all-reads", 36, "reads of all rows an `hour`, by sweeps")
	f.IntVar(&p.input.ListOwners, "list-owners", 0, "owners that one load of the list page asks for")
	f.IntVar(&p.input.Move.Rows, "rows", 0, "rows to move (default: as the scan counted)")
	f.IntVar(&p.input.Move.RowBytes, "row-bytes", 0, "size of a base item (default: the index entry's)")
	f.IntVar(&p.input.Move.EntryBytes, "entry-bytes", 0, "size of an index entry (default: as the scan measured, else 1024)")
	f.Float64Var(&p.input.Move.Budget, "budget", 100, "write units a second that the move may spend on the old key")
	f.StringVar(&p.spec, "spec", "", "draft the move's spec from the live table into this `file`")
	f.BoolVar(&p.json, "json", false, "print the plan as JSON")
	return cmd
}

func (p *plan) run(cmd *cobra.Command) error {
	if err := p.prepare(cmd); err != nil {
		return err
	}
	made := sim.PlanFor(p.input)
	if p.keys > 0 {
		made = made.With(p.keys)
	}
	var err error
	if p.json {
		err = printJSON(cmd.OutOrStdout(), made)
	} else {
		_, err = fmt.Fprint(cmd.OutOrStdout(), p.text(made))
	}
	if err != nil {
		return err
	}
	if made.Recommended == 0 {
		return wrong(nil)
	}
	if p.spec != "" {
		return p.draft(cmd, made)
	}
	return nil
}

// prepare reads the diagnoses and fills the plan's input from them and the flags.
func (p *plan) prepare(cmd *cobra.Command) error {
	if len(p.diagnoses) == 0 {
		return usageError(cmd, errors.New("--diagnosis is missing: 'hotsplit diagnose --save diagnosis.json' writes one"))
	}
	if p.keys < 0 || p.keys > sim.KeysMax {
		return usageError(cmd, fmt.Errorf("--keys is %d, want 1 to %d", p.keys, sim.KeysMax))
	}
	if p.input.Partitions < 1 || p.input.Headroom <= 0 || p.input.Move.Budget <= 0 {
		return usageError(cmd, errors.New("--partitions, --headroom and --budget must be positive"))
	}
	var found []diagnosis
	for _, path := range p.diagnoses {
		d, err := readDiagnosis(path)
		if err != nil {
			return err
		}
		found = append(found, d)
	}
	if err := p.choose(found); err != nil {
		return badInput(err)
	}
	for _, d := range found {
		p.learn(d)
	}
	if p.input.Move.RowBytes == 0 {
		p.input.Move.RowBytes = p.input.Move.EntryBytes
	}
	if len(p.input.Owners) == 0 {
		return unknown(fmt.Errorf("key %q of %s/%s: no owner is known, so no spread can be computed; add a --diagnosis made with --scan", p.key, p.table, p.index))
	}
	return nil
}

// choose settles which key is to be spread.
func (p *plan) choose(found []diagnosis) error {
	for _, d := range found {
		for _, v := range d.Verdicts {
			if p.index == "" && v.Index != "" {
				p.table, p.index = v.Table, v.Index
			}
			if p.key == "" && v.Key != "" && v.Index == p.index {
				p.key = v.Key
			}
		}
	}
	if p.key == "" {
		p.key = p.heaviest(found)
	}
	if p.index == "" || p.key == "" {
		return errors.New("the diagnosis names no key of an index; give --table, --index and --key")
	}
	if p.base == "" {
		p.base = p.key
	}
	return nil
}

func (p *plan) heaviest(found []diagnosis) string {
	for _, d := range found {
		for _, r := range d.Resources {
			if r.Table == p.table && r.Index == p.index && len(r.Keys) > 0 {
				return r.Keys[0].Key
			}
		}
	}
	return ""
}

// learn takes from one diagnosis what it knows of the key.
func (p *plan) learn(d diagnosis) {
	in := &p.input
	for _, r := range d.Resources {
		if r.Table != p.table || r.Index != p.index {
			continue
		}
		at := slices.IndexFunc(r.Keys, func(k heat.KeyReport) bool { return k.Key == p.key })
		if at < 0 {
			continue
		}
		k := r.Keys[at]
		in.PeakRead, in.PeakWrite = max(in.PeakRead, k.PeakRead.Units), max(in.PeakWrite, k.PeakWrite.Units)
		in.Refused = in.Refused || k.Throttled > 0 || d.Resolution > 1 && r.Throttled > 0
		for _, c := range k.Callers {
			in.Callers = append(in.Callers, sim.CallerShare{Name: c.Name, Share: c.Share})
		}
		if len(k.Items) > 0 {
			in.HeaviestItem = k.Items[0].Share - k.Items[0].Error
		}
	}
	for _, s := range d.Shapes {
		if s.Table == p.table && s.Index == p.index && s.Key == p.key {
			p.shape(s)
		}
	}
}

// shape takes owners and sizes. What owners take counts more than how many rows
// they have.
func (p *plan) shape(s shape) {
	in := &p.input
	if s.Of == "units" || len(in.Owners) == 0 {
		rows := map[string]sim.OwnerLoad{}
		for _, o := range in.Owners {
			rows[o.Owner] = o
		}
		in.Owners = slices.Clone(s.Owners)
		for i, o := range in.Owners {
			if known, ok := rows[o.Owner]; ok && o.Rows == 0 {
				in.Owners[i].Rows, in.Owners[i].Bytes = known.Rows, known.Bytes
			}
		}
	}
	if s.Of == "rows" {
		if in.Move.Rows == 0 {
			in.Move.Rows = s.Rows
		}
		if in.Move.EntryBytes == 0 {
			in.Move.EntryBytes = s.EntryBytes
		}
	}
}

// draft writes the spec of the move, with the plan's number of keys.
func (p *plan) draft(cmd *cobra.Command, made sim.Plan) error {
	client, err := p.client(cmd.Context(), "hotsplit")
	if err != nil {
		return err
	}
	spec, notes, err := p.drafted(cmd.Context(), client, made.Recommended)
	if err != nil {
		return judged(err)
	}
	if err := createFile(p.spec, spellSpec(spec, notes)); err != nil {
		return badInput(fmt.Errorf("--spec: %w", err))
	}
	if !p.json {
		fmt.Fprintf(cmd.OutOrStdout(), "%s written; read it, then 'hotsplit check --spec %s'\n", p.spec, p.spec)
	}
	return nil
}

func (p *plan) drafted(ctx context.Context, client migrate.ReadAPI, keys int) (migrate.Spec, []migrate.Note, error) {
	spec, notes, err := migrate.Draft(ctx, client, p.table, p.index)
	if err != nil {
		return spec, nil, err
	}
	spec.From = shard.Layout{Base: p.key}
	spec.To = shard.Layout{Base: p.base, Count: keys}
	if base, _, isShard := strings.Cut(p.key, spec.Separator); isShard && p.base == p.key {
		return spec, nil, fmt.Errorf("%w: to.base: key %q is a shard key already; give --base %s and --keys", migrate.ErrSpec, p.key, base)
	}
	return spec, notes, nil
}
