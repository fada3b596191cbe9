package demo

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// keySecond is what one index key served in one second.
type keySecond struct {
	read, write float64
	throttled   int
}

// load is the share of a partition's ceiling, the fuller direction.
func (s keySecond) load() float64 {
	return max(s.read/capacity.PartitionCeiling.Read, s.write/capacity.PartitionCeiling.Write)
}

// heatMap is time × index key.
type heatMap struct {
	start  time.Time
	keys   []string // the old key first, then the shards in order
	cells  map[string][]keySecond
	length int // seconds
	marks  []mark
}

// mark is a moment with a name: a phase of the move.
type mark struct {
	at   time.Time
	name string
}

func newHeatMap(start time.Time, keys []string) heatMap {
	return heatMap{start: start.Truncate(time.Second), keys: keys, cells: map[string][]keySecond{}}
}

func (h *heatMap) second(at time.Time) int { return int(at.Sub(h.start) / time.Second) }

func (h *heatMap) add(at time.Time, key string, cell keySecond) {
	second := h.second(at)
	if second < 0 || !slices.Contains(h.keys, key) {
		return
	}
	for len(h.cells[key]) <= second {
		h.cells[key] = append(h.cells[key], keySecond{})
	}
	h.cells[key][second] = cell
	h.length = max(h.length, second+1)
}

// peak is the most read units that one key served in a whole second of a span,
// and which key.
func (h *heatMap) peak(from, to time.Time) (string, float64) {
	key, units := "", 0.0
	for _, k := range h.keys {
		for second, cell := range h.cells[k] {
			at := h.start.Add(time.Duration(second) * time.Second)
			if !at.Before(from.Truncate(time.Second)) && at.Before(to) && cell.read > units {
				key, units = k, cell.read
			}
		}
	}
	return key, units
}

func (h *heatMap) throttledAt(second int) int {
	sum := 0
	for _, cells := range h.cells {
		if second < len(cells) {
			sum += cells[second].throttled
		}
	}
	return sum
}

// Geometry of the picture, in SVG units.
const (
	pictureWidth  = 1000.0
	labelWidth    = 150.0
	rowHeightMax  = 26.0
	mapHeightMax  = 420.0
	chartHeight   = 90.0
	marksHeight   = 12 + markRows*markRowHeight
	markRows      = 4
	markRowHeight = 15.0
	rowHeightFine = 11.0 // below this, labels would overlap and every few are shown
)

type rect struct {
	X, Y, W, H float64
	Fill       template.CSS
	Class      string
	Title      string
}

type label struct {
	X, Y   float64
	Text   string
	Anchor string
}

// picture is the heat map as shapes; the template writes them down.
type picture struct {
	Width, Height     float64
	Cells, Bars       []rect
	Keys, Marks, Axis []label
	Lines             []rect
	ChartTop          float64
	ThrottledMost     int
}

func (h *heatMap) picture() picture {
	row := min(rowHeightMax, mapHeightMax/float64(len(h.keys)))
	column := (pictureWidth - labelWidth) / float64(max(h.length, 1))
	p := picture{Width: pictureWidth, ChartTop: marksHeight + row*float64(len(h.keys)) + 24}
	p.Height = p.ChartTop + chartHeight + 24
	every := int(math.Ceil(rowHeightFine / row))
	for i, key := range h.keys {
		top := marksHeight + row*float64(i)
		if i%every == 0 {
			p.Keys = append(p.Keys, label{X: labelWidth - 8, Y: top + row/2, Text: key, Anchor: "end"})
		}
		for second, cell := range h.cells[key] {
			p.Cells = append(p.Cells, cellRect(key, second, cell, labelWidth+column*float64(second), top, column, row))
		}
	}
	h.drawThrottles(&p, column)
	h.drawMarks(&p, column)
	return p
}

func cellRect(key string, second int, cell keySecond, x, y, w, height float64) rect {
	r := rect{X: x, Y: y, W: w, H: height, Fill: heatColour(cell.load()), Class: "cell"}
	if cell.throttled > 0 {
		r.Class = "cell throttled"
	}
	r.Title = fmt.Sprintf("%s, second %d: %.0f read units, %.0f write units, %d throttled (%.0f %% of the ceiling)",
		key, second, cell.read, cell.write, cell.throttled, 100*cell.load())
	return r
}

// heatStops are the colours of the map; 1 is the ceiling.
var heatStops = []struct {
	at      float64
	r, g, b float64
}{
	{0, 233, 238, 245}, {0.15, 169, 207, 232}, {0.4, 246, 213, 92}, {0.75, 239, 122, 46}, {1, 179, 20, 31},
}

// heatColour runs from pale blue over yellow to dark red.
func heatColour(load float64) template.CSS {
	load = min(max(load, 0), 1)
	i := 1
	for i < len(heatStops)-1 && heatStops[i].at < load {
		i++
	}
	a, b := heatStops[i-1], heatStops[i]
	share := (load - a.at) / (b.at - a.at)
	return template.CSS(fmt.Sprintf("rgb(%.0f %.0f %.0f)", a.r+share*(b.r-a.r), a.g+share*(b.g-a.g), a.b+share*(b.b-a.b)))
}

func (h *heatMap) drawThrottles(p *picture, column float64) {
	for second := range h.length {
		p.ThrottledMost = max(p.ThrottledMost, h.throttledAt(second))
	}
	for second := range h.length {
		n := h.throttledAt(second)
		if n == 0 {
			continue
		}
		height := chartHeight * float64(n) / float64(p.ThrottledMost)
		p.Bars = append(p.Bars, rect{
			X: labelWidth + column*float64(second), Y: p.ChartTop + chartHeight - height, W: max(column-1, 1), H: height,
			Title: fmt.Sprintf("second %d: %d throttled", second, n),
		})
	}
	step := max(1, h.length/10)
	for second := 0; second < h.length; second += step {
		p.Axis = append(p.Axis, label{X: labelWidth + column*float64(second), Y: p.ChartTop + chartHeight + 16, Text: fmt.Sprintf("%d s", second), Anchor: "start"})
	}
}

// drawMarks draws a line where each phase begins, with its name on the first
// row of text that has room.
func (h *heatMap) drawMarks(p *picture, column float64) {
	var free [markRows]float64
	for _, m := range h.marks {
		x := labelWidth + column*float64(m.at.Sub(h.start))/float64(time.Second)
		p.Lines = append(p.Lines, rect{X: x, Y: marksHeight - 6, H: p.ChartTop + chartHeight - marksHeight + 6, Title: m.name})
		for row := range free {
			if x >= free[row] {
				p.Marks = append(p.Marks, label{X: x + 3, Y: marksHeight - 12 - markRowHeight*float64(row), Text: m.name, Anchor: "start"})
				free[row] = x + 7.2*float64(len(m.name)) + 6
				break
			}
		}
	}
}
