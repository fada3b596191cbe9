package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/migrate"
)

// conclude looks at the table once the traffic has ended.
func (s *show) conclude(ctx context.Context) (*Result, error) {
	s.options.Observe(Progress{Stage: "verify", All: len(s.model.loaded)})
	if err := s.app.purgeAll(ctx); err != nil {
		return nil, err
	}
	if err := sleep(ctx, s.stage.lagMax+schedulingSlack); err != nil {
		return nil, err
	}
	r := &Result{
		Before: s.meters.before.span(), During: s.meters.during.span(), After: s.meters.after.span(),
		Reads: s.model.reads(), shards: s.spec.To.Count, usual: s.options.usual(),
	}
	if err := s.count(ctx, r); err != nil {
		return nil, err
	}
	report, err := migrate.Verify(ctx, s.stage.plain("auditor"), s.spec, migrate.VerifyOptions{})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	r.Owners = Owners{Checked: int(report.Owners.Checked), Identical: int(report.Owners.Identical)}
	s.measureHeat(r)
	r.Length = time.Since(s.started).Seconds()
	return r, nil
}

// count scans the base table, and compares every row with what was loaded.
func (s *show) count(ctx context.Context, r *Result) error {
	rows, err := s.stage.scan(ctx)
	if err != nil {
		return err
	}
	left := maps.Clone(s.loaded)
	found := map[rowKey]item{}
	for _, row := range rows {
		key := s.model.keyOf(row)
		print, loaded := left[key]
		if !loaded {
			continue // the record of the move
		}
		delete(left, key)
		found[key] = row
		got, err := fingerprint(row, s.ignored()...)
		if err != nil {
			return err
		}
		if got != print {
			r.Rows.Altered++
		}
		if s.model.loadedRow(key) {
			s.countKey(r, row)
		}
	}
	r.Rows.Altered += len(left)
	for _, row := range s.rows {
		if now := found[s.model.keyOf(row)]; now != nil {
			r.final = append(r.final, now)
		}
	}
	return nil
}

func (s *show) countKey(r *Result, row item) {
	r.Rows.Total++
	owner, key := textOf(row, s.spec.Owner), textOf(row, s.spec.To.PartitionKey)
	switch key {
	case s.spec.To.Key(owner):
		r.Rows.OnShards++
	case s.spec.From.Key(owner):
		r.Rows.OnOldKey++
	}
}

func (s *show) measureHeat(r *Result) {
	keys := slices.Concat(s.spec.From.Keys(), s.spec.To.Keys())
	r.heat = newHeatMap(s.spans.before, slices.Compact(keys))
	r.heat.marks = s.marks
	for _, resource := range s.stage.db.Heat(s.spans.before) {
		if resource.Table != s.spec.Table || resource.Index != s.spec.To.Index {
			continue
		}
		for _, second := range resource.Seconds {
			for _, key := range second.Keys {
				r.heat.add(second.Time, key.Key, keySecond{key.Read, key.Write, key.Throttled})
			}
		}
	}
	r.hottest.before, r.Peak.Before = r.heat.peak(s.spans.before, s.spans.moving)
	r.hottest.after, r.Peak.After = r.heat.peak(s.spans.after, s.spans.end)
}

// hottestNow is the index key that served most in the latest whole second.
func (s *show) hottestNow() (string, float64) {
	key, units := "", 0.0
	last := time.Now().Add(-time.Second)
	for _, resource := range s.stage.db.Heat(last) {
		if resource.Index != s.spec.To.Index {
			continue
		}
		for _, second := range resource.Seconds {
			for _, k := range second.Keys {
				if second.Time.Unix() == last.Unix() && k.Read > units {
					key, units = k.Key, k.Read
				}
			}
		}
	}
	return key, units
}
