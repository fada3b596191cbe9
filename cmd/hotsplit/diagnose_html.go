package main

import (
	"bytes"
	_ "embed"
	"html/template"
)

//go:embed diagnose.html.tmpl
var diagnosisTemplate string

// diagnosisHTML is the diagnosis as one file that needs no other.
func diagnosisHTML(d diagnosis) ([]byte, error) {
	t, err := template.New("diagnosis").Funcs(template.FuncMap{
		"thousands": thousands, "quoted": quoted,
		"units":   func(f float64) string { return thousands(int(f + 0.5)) },
		"percent": func(f float64) float64 { return 100 * f },
	}).Parse(diagnosisTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Diagnosis": d, "Paragraph": d.Paragraph(), "Source": sourceLine(d.Report),
		"Map": heatmapSVG(d.Map, d.From, d.To), "Legend": heatLegend(), "Next": nextCommand(d, ""),
	})
	return b.Bytes(), err
}
