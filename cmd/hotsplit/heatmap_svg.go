package main

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/heat"
)

// heatColors is the absolute scale of every heat map: equal steps of a
// partition's ceiling, from nothing to full; the last is above the ceiling.
var heatColors = []string{"#f4f7fa", "#d3e5f2", "#a9cfe6", "#fce0a2", "#fdb462", "#f5803e", "#e04a2f", "#b3141f", "#6d0019"}

// heatColor is the color of a share of the ceiling.
func heatColor(load float64) string {
	if load <= 0 {
		return heatColors[0]
	}
	if load > 1 {
		return heatColors[len(heatColors)-1]
	}
	steps := len(heatColors) - 2
	return heatColors[1+min(steps-1, int(load*float64(steps)))]
}

const (
	mapWidth     = 1000
	mapLabels    = 190
	mapRowHeight = 22
	mapRowsShown = 24
	mapAxis      = 26
)

// heatmapSVG draws the map: time from left to right, one row a key.
func heatmapSVG(m *heat.Map, from, to time.Time) template.HTML {
	if m == nil || len(m.Rows) == 0 {
		return template.HTML("<p>No heat map: nothing was recorded by the second.</p>")
	}
	rows := m.Rows[:min(len(m.Rows), mapRowsShown)]
	step := float64(m.StepSeconds)
	begin := float64(from.Unix()) - math.Mod(float64(from.Unix()), step)
	span := math.Max(step, float64(to.Unix())-begin+step)
	height := len(rows)*mapRowHeight + mapAxis
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="Heat map: time from left to right, one row for each key; color is the busiest second's share of a partition's ceiling">`, mapWidth, height)
	for i, row := range rows {
		y := i * mapRowHeight
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end" dominant-baseline="middle">%s</text>`, mapLabels-8, y+mapRowHeight/2, template.HTMLEscapeString(rowName(row)))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, mapLabels, y+1, mapWidth-mapLabels, mapRowHeight-2, heatColors[0])
		for _, c := range row.Cells {
			x := mapLabels + (float64(c.At.Unix())-begin)/span*(mapWidth-mapLabels)
			w := math.Max(1, step/span*(mapWidth-mapLabels))
			title := template.HTMLEscapeString(cellText(row, c))
			fmt.Fprintf(&b, `<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"><title>%s</title></rect>`,
				x, y+1, w, mapRowHeight-2, heatColor(c.Load()), title)
			if c.Throttled > 0 {
				fmt.Fprintf(&b, `<rect x="%.2f" y="%d" width="%.2f" height="4"><title>%s</title></rect>`, x, y+mapRowHeight-6, w, title)
			}
		}
	}
	axis := len(rows)*mapRowHeight + 17
	fmt.Fprintf(&b, `<text class="soft" x="%d" y="%d">%s</text><text class="soft" x="%d" y="%d" text-anchor="end">%s UTC</text></svg>`,
		mapLabels, axis, from.UTC().Format(time.DateTime), mapWidth, axis, to.UTC().Format(time.DateTime))
	return template.HTML(b.String())
}

func rowName(r heat.MapRow) string {
	name := quoted(r.Key)
	if r.Key == "" {
		name = "(unknown key)"
	}
	if runes := []rune(name); len(runes) > 26 {
		name = string(runes[:25]) + "…"
	}
	return name
}

func cellText(r heat.MapRow, c heat.MapCell) string {
	s := fmt.Sprintf("%s of %s at %s: %.0f read and %.0f write units in its busiest second, %.0f %% of the ceiling", quoted(r.Key), r.Resource,
		c.At.Format(time.TimeOnly), c.Read, c.Write, 100*c.Load())
	if c.Throttled > 0 {
		s += fmt.Sprintf("; %d attempts refused (%s)", c.Throttled, c.Reason)
	}
	return s
}

// heatLegend names the colors.
func heatLegend() []struct{ Color, Label string } {
	steps := len(heatColors) - 2
	legend := []struct{ Color, Label string }{{heatColors[0], "none"}}
	for i := range steps {
		legend = append(legend, struct{ Color, Label string }{heatColors[i+1], fmt.Sprintf("%d–%d %%", 100*i/steps, 100*(i+1)/steps)})
	}
	return append(legend, struct{ Color, Label string }{heatColors[len(heatColors)-1], "above the ceiling"})
}
