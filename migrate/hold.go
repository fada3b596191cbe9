package migrate

import (
	"github.com/hotsplit/hotsplit/shard"
)

// hold compares one base row with its entry. The lock is held.
func (v *verification) hold(item Item, e *entry) {
	r, class := v.sieve.read(item)
	if r == nil {
		if v.sieve.foreign(item) {
			v.report.Rows.Checked++
			v.suspects = append(v.suspects, &suspect{key: only(v.spec.Key, item)})
		}
		return
	}
	if r.sort == nil && v.record.From.SortKey != "" {
		return // without a sort key the index never holds it
	}
	v.report.Rows.Checked++
	_, onTo := v.record.To.Parse(r.at)
	switch {
	case onTo == nil:
		v.report.Rows.OnTo++
	default:
		v.report.Rows.OnFrom++
	}
	if class != "" && !(v.onlyUnsharded() && r.at == v.routing.Write.Base) {
		v.unshardable(r, item, string(class))
		return
	}
	owner, _ := textOf(item[v.spec.Owner])
	if _, known := v.owners[v.digest.text(owner)]; !known {
		v.owners[v.digest.text(owner)] = false
	}
	if e != nil && !e.twice && v.keys[e.key] == r.at && v.allowed(r.at, owner) && e.content == v.digest.content(item) {
		return
	}
	s := &suspect{key: r.key, owner: owner}
	if e != nil {
		s.keys = []string{v.keys[e.key]}
	}
	v.suspects = append(v.suspects, s)
}

// onlyUnsharded says that the phase knows one unsharded layout, where an owner
// decides nothing.
func (v *verification) onlyUnsharded() bool {
	return len(v.routing.Read) == 1 && v.routing.Write.Count == 0
}

// allowed says whether a row may carry key in the record's phase.
func (v *verification) allowed(key, owner string) bool {
	switch v.record.Phase {
	case shard.Planned, shard.DualRead:
		return key == v.record.From.Key(owner)
	case shard.Verified, shard.Complete:
		return key == v.record.To.Key(owner)
	case shard.WriteNew, shard.Backfill, shard.Reverting:
	}
	return key == v.record.From.Key(owner) || key == v.record.To.Key(owner)
}

// unshardable is a defect unless the operator leaves its class behind. The lock
// is held.
func (v *verification) unshardable(r *row, item Item, class string) {
	if v.report.Classes == nil {
		v.report.Classes = map[string]int64{}
	}
	v.report.Classes[class]++
	if v.report.excluded[class] {
		return
	}
	v.found(Finding{
		Verdict: VerdictDefect, Kind: KindUnshardable, Key: r.key, IndexKey: r.at, Detail: class, row: item,
	})
}

// found reports a finding. The lock is held.
func (v *verification) found(f Finding) {
	f.KeyText = spellKey(v.spec.Key, f.Key)
	if f.Verdict == VerdictDefect && f.Owner != "" {
		v.owners[v.digest.text(f.Owner)] = true
	}
	v.report.add(f)
	if v.opts.Observe != nil {
		v.opts.Observe(f)
	}
}

// spellKey writes a base key for people.
func spellKey(names []string, key Item) string {
	text := ""
	for i, name := range names {
		if i > 0 {
			text += " / "
		}
		_, value := scalar(key[name])
		text += value
	}
	return text
}
