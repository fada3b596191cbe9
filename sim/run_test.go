package sim_test

import (
	"os"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hotsplit/hotsplit/sim"
)

func adr(t *testing.T) sim.Workload {
	t.Helper()
	text, err := os.ReadFile(adrFile())
	if err != nil {
		t.Fatal(err)
	}
	var w sim.Workload
	if err := yaml.UnmarshalWithOptions(text, &w, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestProbe(t *testing.T) {
	w := adr(t)
	if os.Getenv("ONE") != "" {
		w.Designs = sim.Designs()[:1]
	}
	began := time.Now()
	outs, err := sim.Compare(w)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(began))
	for _, o := range outs {
		t.Logf("%-28s req %9d thr %8d events %6d user %6d gaps %6d epi %4d hot %.2f $%.2f once %.2f", o.Design.Name, o.Requests, o.Throttled, o.Events, o.UserErrors, o.Gaps, o.Episodes, o.Hottest.Load, o.Cost.Month, o.Cost.Once)
		for _, r := range o.Routes {
			t.Logf("      %-30s calls %8d failed %6d p50 %v p99 %v p999 %v", r.Name, r.Calls, r.Failed, r.P50, r.P99, r.P999)
		}
	}
}

func adrFile() string {
	if f := os.Getenv("ADR"); f != "" {
		return f
	}
	return "testdata/adr-0085.yaml"
}
