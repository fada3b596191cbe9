package migrate

import (
	"context"
	"time"
)

// Member is what a process that reads or writes through a Watcher reports.
type Member struct {
	Format     int              `json:"format"`
	ID         string           `json:"id"`
	Role       string           `json:"role,omitempty"`
	Version    string           `json:"version,omitempty"`
	Generation int64            `json:"generation"` // that it goes by
	Moving     int64            `json:"moving"`     // version of the moving set that it goes by
	Beat       int64            `json:"beat"`       // raised by each report
	Units      map[string]Units `json:"units,omitempty"`
	Seen       string           `json:"seen,omitempty"` // for people: the member's clock
}

// Units is what a process spends on one index key, in units a second.
type Units struct {
	Read  float64 `json:"read"`
	Write float64 `json:"write"`
}

// has says whether the member goes by this generation and moving set or later.
func (m Member) has(generation, moving int64) bool {
	return m.Generation >= generation && m.Moving >= moving
}

// roll watches the members' counters on this process's own clock.
type roll struct {
	seen map[string]sighting
}

type sighting struct {
	beat int64
	at   time.Time
}

// live lists the members whose counter moved within silence, or that were seen
// for the first time within it: a member that just appeared is waited for.
func (r *roll) live(members []Member, silence time.Duration) []Member {
	if r.seen == nil {
		r.seen = map[string]sighting{}
	}
	var live []Member
	for _, m := range members {
		last, known := r.seen[m.ID]
		if !known || last.beat != m.Beat {
			last = sighting{beat: m.Beat, at: time.Now()}
			r.seen[m.ID] = last
		}
		if time.Since(last.at) < silence {
			live = append(live, m)
		}
	}
	return live
}

// members reads every member's report.
func (s shelf) members(ctx context.Context, client ReadAPI) ([]Member, error) {
	items, err := s.list(ctx, client, memberItem)
	if err != nil {
		return nil, err
	}
	members := make([]Member, 0, len(items))
	for _, item := range items {
		var m Member
		if err := decode(item, &m); err != nil {
			continue // a report of a release that this one cannot read tells nothing
		}
		members = append(members, m)
	}
	return members, nil
}

// liveUnits sums what members spend on the keys for which counts is true.
func liveUnits(members []Member, counts func(key string) bool) Units {
	var sum Units
	for _, m := range members {
		for key, u := range m.Units {
			if counts(key) {
				sum.Read += u.Read
				sum.Write += u.Write
			}
		}
	}
	return sum
}
