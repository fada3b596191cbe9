package sim_test

import (
	"os"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hotsplit/hotsplit/sim"
)

func adr(t *testing.T) sim.Workload {
	t.Helper()
	text, err := os.ReadFile("testdata/adr-0085.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var w sim.Workload
	if err := yaml.UnmarshalWithOptions(text, &w, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return w
}
