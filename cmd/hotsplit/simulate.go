package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/sim"
)

type simulate struct {
	designs        []string
	seed           uint64
	days           float64
	json           bool
	png, svg, html string
}

func newSimulateCmd() *cobra.Command {
	s := &simulate{}
	cmd := &cobra.Command{
		Use:   "simulate workload.yaml",
		Short: "Play weeks of a workload under competing designs, and compare",
		Long: `simulate plays a workload on a virtual clock, once for each design, and compares
what users would have seen: requests throttled, errors after the SDK's retries,
latencies of each route, the hottest key, units and money. Six weeks take seconds.
One seed gives one result.

The workload file names the rows, the routes (pages that poll, sweeps, writers,
bursts), the retry policy and, if you like, the designs; without designs it plays
those that ADR-0085 weighs: as is, amplifiers cut, 8, 16 and 32 shards, warmed,
person key and scan, more provisioned capacity, longer retries, and combinations.
sim/testdata/adr-0085.yaml is an example with a comment for each assumption.`,
		Example: `  hotsplit simulate adr-0085.yaml
  hotsplit simulate adr-0085.yaml --designs "as is,16 shards" --days 7
  hotsplit simulate adr-0085.yaml --html report.html --png report.png`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&s.designs, "designs", nil, "`names` of the designs to play (default: all)")
	f.Uint64Var(&s.seed, "seed", 0, "`number` in place of the file's seed")
	f.Float64Var(&s.days, "days", 0, "`number` of days in place of the file's")
	f.BoolVar(&s.json, "json", false, "print the outcomes as JSON")
	f.StringVar(&s.png, "png", "", "write the pictures to a PNG `file`")
	f.StringVar(&s.svg, "svg", "", "write the pictures to an SVG `file`")
	f.StringVar(&s.html, "html", "", "write table and pictures to one self-contained HTML `file`")
	return cmd
}

func (s *simulate) run(cmd *cobra.Command, path string) error {
	w, err := s.workload(path)
	if err != nil {
		return err
	}
	outcomes, err := sim.Compare(w)
	if err != nil {
		return badInput(fmt.Errorf("workload %s: %w", path, err))
	}
	if err := s.pictures(w, outcomes); err != nil {
		return err
	}
	if s.json {
		return printJSON(cmd.OutOrStdout(), map[string]any{"workload": w, "outcomes": outcomes})
	}
	fmt.Fprint(cmd.OutOrStdout(), simulationText(w, outcomes))
	return nil
}

func (s *simulate) workload(path string) (sim.Workload, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return sim.Workload{}, badInput(fmt.Errorf("workload: %w", err))
	}
	var w sim.Workload
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&w); err != nil {
		return w, badInput(fmt.Errorf("workload %s: %w", path, err))
	}
	if s.seed != 0 {
		w.Seed = s.seed
	}
	if s.days != 0 {
		w.Days = s.days
	}
	if len(w.Designs) == 0 {
		w.Designs = sim.Designs()
	}
	if err := w.Validate(); err != nil {
		return w, badInput(fmt.Errorf("workload %s: %w", path, err))
	}
	return w, s.choose(&w)
}

func (s *simulate) choose(w *sim.Workload) error {
	if len(s.designs) == 0 {
		return nil
	}
	var chosen []sim.Design
	for _, name := range s.designs {
		at := slices.IndexFunc(w.Designs, func(d sim.Design) bool { return d.Name == name })
		if at < 0 {
			var known []string
			for _, d := range w.Designs {
				known = append(known, d.Name)
			}
			return badInput(fmt.Errorf("--designs: there is no %q; the workload has %s", name, strings.Join(known, "; ")))
		}
		chosen = append(chosen, w.Designs[at])
	}
	w.Designs = chosen
	return nil
}

func (s *simulate) pictures(w sim.Workload, outcomes []sim.Outcome) error {
	for _, p := range []struct {
		path   string
		render func(sim.Workload, []sim.Outcome) ([]byte, error)
	}{{s.png, plotPNG}, {s.svg, plotSVG}, {s.html, simulationHTML}} {
		if p.path == "" {
			continue
		}
		content, err := p.render(w, outcomes)
		if err != nil {
			return fmt.Errorf("draw %s: %w", p.path, err)
		}
		if err := os.WriteFile(p.path, content, 0o644); err != nil {
			return badInput(err)
		}
	}
	return nil
}
