package heat

import "slices"

// heatmap is the use of the heaviest keys over time, in a bounded number of
// columns. When they are full, the oldest goes, or all grow twice as wide.
type heatmap struct {
	columnsMax int
	whole      bool
	step       int64 // seconds a column spans
	columns    []column
}

// column holds, for each key, its busiest second within the column's span.
type column struct {
	start int64
	cells []shownCell
}

type shownCell struct {
	resource Resource
	key      string
	cell
}

func (h *heatmap) add(second int64, cells []*counter[cellKey, cell]) {
	shown := make([]shownCell, len(cells))
	for i, c := range cells {
		shown[i] = shownCell{c.key.resource.id, c.key.key, c.value}
	}
	h.push(column{second - second%h.step, shown})
	if len(h.columns) <= h.columnsMax {
		return
	}
	if !h.whole {
		h.columns = slices.Delete(h.columns, 0, 1)
		return
	}
	for len(h.columns) > h.columnsMax {
		h.widen()
	}
}

func (h *heatmap) push(c column) {
	if n := len(h.columns); n > 0 && h.columns[n-1].start == c.start {
		h.columns[n-1].merge(c)
		return
	}
	h.columns = append(h.columns, c)
}

func (h *heatmap) widen() {
	h.step *= 2
	old := h.columns
	h.columns = nil
	for _, c := range old {
		c.start -= c.start % h.step
		h.push(c)
	}
}

// merge keeps each key's busiest second and all its refusals.
func (c *column) merge(o column) {
	for _, cell := range o.cells {
		at := slices.IndexFunc(c.cells, func(s shownCell) bool { return s.resource == cell.resource && s.key == cell.key })
		if at < 0 {
			c.cells = append(c.cells, cell)
			continue
		}
		mine := &c.cells[at]
		if load(cell.read, cell.write) > load(mine.read, mine.write) {
			mine.caller = cell.caller
		}
		mine.read, mine.write = max(mine.read, cell.read), max(mine.write, cell.write)
		mine.throttled += cell.throttled
		if cell.reason != "" {
			mine.reason = cell.reason
		}
	}
	slices.SortStableFunc(c.cells, func(a, b shownCell) int {
		return cmpFloat(load(b.read, b.write), load(a.read, a.write))
	})
	c.cells = c.cells[:min(len(c.cells), cellsShownMax)]
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
