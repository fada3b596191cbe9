package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/hotsplit/hotsplit/sim"
)

const (
	plotWidth  = 26 * vg.Centimeter
	plotHeight = 26 * vg.Centimeter
)

// palette tells lines apart for readers who cannot tell red from green
// (Okabe and Ito).
var palette = []color.Color{
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff}, color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	color.RGBA{0x33, 0x33, 0x33, 0xff}, color.RGBA{0x99, 0x99, 0x99, 0xff},
}

func plotPNG(w sim.Workload, outcomes []sim.Outcome) ([]byte, error) {
	c := vgimg.PngCanvas{Canvas: vgimg.New(plotWidth, plotHeight)}
	if err := drawPlots(draw.New(c), w, outcomes); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

func plotSVG(w sim.Workload, outcomes []sim.Outcome) ([]byte, error) {
	c := vgsvg.New(plotWidth, plotHeight)
	if err := drawPlots(draw.New(c), w, outcomes); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

func drawPlots(c draw.Canvas, w sim.Workload, outcomes []sim.Outcome) error {
	var plots [][]*plot.Plot
	for _, build := range []func(sim.Workload, []sim.Outcome) (*plot.Plot, error){plotHottest, plotEvents, plotLatency} {
		p, err := build(w, outcomes)
		if err != nil {
			return err
		}
		plots = append(plots, []*plot.Plot{p})
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadTop: 8, PadBottom: 8, PadLeft: 8, PadRight: 12, PadY: 14}
	for i, row := range plot.Align(plots, tiles, c) {
		plots[i][0].Draw(row[0])
	}
	return nil
}

func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Legend.Top = true
	for _, f := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font,
	} {
		f.Variant = "Sans"
	}
	return p
}

// plotHottest shows, for each day, the busiest second of the hottest key.
func plotHottest(w sim.Workload, outcomes []sim.Outcome) (*plot.Plot, error) {
	unit, hours := columns(w)
	p := newPlot("Hottest key: busiest second of each " + unit + ", in shares of one partition's ceiling")
	p.X.Label.Text, p.Y.Label.Text = unit, "share of the ceiling"
	p.Y.Min, p.Y.Max = 0, 4.2 // half of it for the legend
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 0.5}, {Value: 1, Label: "1"}, {Value: 1.5}, {Value: 2, Label: "2"}}
	last := 0.0
	for i, o := range shown(outcomes) {
		var points plotter.XYs
		for at, load := range folded(o.Hours, hours, func(into float64, h sim.Hour) float64 { return max(into, h.Load) }) {
			points = append(points, plotter.XY{X: float64(at), Y: load})
		}
		last = max(last, float64(len(points)-1))
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = palette[i%len(palette)], 1.5
		p.Add(line)
		p.Legend.Add(o.Design.Name, line)
	}
	ceiling, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: last, Y: 1}})
	if err != nil {
		return nil, err
	}
	ceiling.Color, ceiling.Dashes = color.Black, []vg.Length{4, 3}
	p.Add(ceiling)
	p.Legend.Add("ceiling", ceiling)
	return p, nil
}

// shown is the first design and those that differ from it, few enough for one
// picture.
func shown(outcomes []sim.Outcome) []sim.Outcome {
	var out []sim.Outcome
	for i, o := range outcomes {
		if i == 0 || math.Abs(o.Hottest.Load-outcomes[0].Hottest.Load) > 0.05 {
			out = append(out, o)
		}
	}
	return out[:min(len(out), len(palette))]
}

// columns is what a picture's time is counted in: days, or hours of short runs.
func columns(w sim.Workload) (unit string, hours int) {
	if w.Days < 3 {
		return "hour", 1
	}
	return "day", 24
}

// folded folds so many hours each into one value.
func folded(hours []sim.Hour, each int, fold func(into float64, h sim.Hour) float64) []float64 {
	out := make([]float64, (len(hours)+each-1)/each)
	for i, h := range hours {
		out[i/each] = fold(out[i/each], h)
	}
	return out
}

// plotEvents shows the throttle events of the first design over time.
func plotEvents(w sim.Workload, outcomes []sim.Outcome) (*plot.Plot, error) {
	unit, hours := columns(w)
	p := newPlot(fmt.Sprintf("Throttle events of each %s, %s: %s in all", unit, outcomes[0].Design.Name, thousands(outcomes[0].Events)))
	p.X.Label.Text, p.Y.Label.Text = unit, "events"
	values := plotter.Values(folded(outcomes[0].Hours, hours, func(into float64, h sim.Hour) float64 { return into + float64(h.Events) }))
	bars, err := plotter.NewBarChart(values, vg.Points(8))
	if err != nil {
		return nil, err
	}
	bars.Color, bars.LineStyle.Width = palette[0], 0
	p.Add(bars)
	p.Y.Min = 0
	return p, nil
}

// plotLatency shows the tail of each route that people wait for.
func plotLatency(_ sim.Workload, outcomes []sim.Outcome) (*plot.Plot, error) {
	p := newPlot("p99.9 of the routes that people wait for, milliseconds")
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	names := make([]string, len(outcomes))
	for i, o := range outcomes {
		names[i] = o.Design.Name
	}
	p.NominalX(names...)
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/8, draw.XRight, draw.YCenter
	for i, r := range outcomes[0].Routes {
		if r.Background {
			continue
		}
		var points plotter.XYs
		for x, o := range outcomes {
			points = append(points, plotter.XY{X: float64(x), Y: max(0.1, float64(o.Routes[i].P999)/1e6)})
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return nil, err
		}
		dots.Color, dots.Radius, dots.Shape = palette[i%len(palette)], 4, draw.CircleGlyph{}
		p.Add(dots)
		p.Legend.Add(r.Name, dots)
	}
	p.Y.Max *= 60 // room for the legend
	return p, nil
}

//go:embed simulate.html.tmpl
var simulationTemplate string

// simulationHTML is the report as one file that needs no other.
func simulationHTML(w sim.Workload, outcomes []sim.Outcome) ([]byte, error) {
	svg, err := plotSVG(w, outcomes)
	if err != nil {
		return nil, err
	}
	if at := bytes.Index(svg, []byte("<svg")); at > 0 {
		svg = svg[at:] // an XML declaration has no place within HTML
	}
	t, err := template.New("simulation").Funcs(template.FuncMap{
		"thousands": thousands, "money": money, "once": onceText, "duration": duration,
	}).Parse(simulationTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Workload": w, "Outcomes": outcomes, "Says": conclusions(outcomes), "Legend": legend, "Retry": retryText(w.Retry),
		"Plots": template.HTML(svg), // of our own making, from numbers and escaped names
	})
	return b.Bytes(), err
}
