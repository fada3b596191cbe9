package heat

import (
	"cmp"
	"slices"
	"time"
)

// Map is the heat map: for each row, a key of a table or index, its use over
// time. A cell is the key's busiest second within the column.
type Map struct {
	StepSeconds int64    `json:"stepSeconds"` // that a column spans
	Rows        []MapRow `json:"rows"`        // hottest first
}

// MapRow is one key's row.
type MapRow struct {
	Resource
	Key   string    `json:"key"`
	Cells []MapCell `json:"cells"` // by time; what is not there was not among the heavy keys
}

// MapCell is one key's use in one column.
type MapCell struct {
	At        time.Time `json:"at"`
	Read      float64   `json:"read"`
	Write     float64   `json:"write"`
	Throttled int       `json:"throttled,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Caller    string    `json:"caller,omitempty"` // of more than half of it, if there is one; else of a large part
}

// Load is the cell's share of one partition's ceiling; above 1 it was refused, or
// the key lies on several partitions.
func (c MapCell) Load() float64 { return load(c.Read, c.Write) }

const mapRowsMax = 40

func (h *heatmap) report() *Map {
	type id struct {
		Resource
		key string
	}
	rows := map[id]*MapRow{}
	heat := map[id]float64{}
	for _, col := range h.columns {
		for _, c := range col.cells {
			k := id{c.resource, c.key}
			if rows[k] == nil {
				rows[k] = &MapRow{Resource: c.resource, Key: c.key}
			}
			rows[k].Cells = append(rows[k].Cells, MapCell{
				time.Unix(col.start, 0).UTC(), c.read, c.write, c.throttled, c.reason, c.caller,
			})
			heat[k] += load(c.read, c.write) + float64(c.throttled)/100
		}
	}
	m := &Map{StepSeconds: h.step}
	ids := make([]id, 0, len(rows))
	for k := range rows {
		ids = append(ids, k)
	}
	slices.SortFunc(ids, func(a, b id) int {
		return cmp.Or(cmp.Compare(heat[b], heat[a]), cmp.Compare(a.String(), b.String()), cmp.Compare(a.key, b.key))
	})
	for _, k := range ids[:min(len(ids), mapRowsMax)] {
		m.Rows = append(m.Rows, *rows[k])
	}
	return m
}
