package shard_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/hotsplit/hotsplit/shard"
)

//go:generate go test -run TestVectors -rewrite

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/vectors.json")

const vectorsFile = "testdata/vectors.json"

func TestVectorsAreTheStoredOnes(t *testing.T) {
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(shard.Vectors()); err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(vectorsFile, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs: stored rows depend on the shard function, so it must never change", vectorsFile)
	}
}

// TestVectorsInAnotherLanguage runs testdata/vectors.mjs, which knows nothing of
// the Go code.
func TestVectorsInAnotherLanguage(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("HOTSPLIT_NO_SKIP") != "" {
			t.Fatal("node is not installed, and HOTSPLIT_NO_SKIP forbids to skip")
		}
		t.Skip("node is not installed: the second implementation is JavaScript")
	}
	if out, err := exec.Command(node, "testdata/vectors.mjs", vectorsFile).CombinedOutput(); err != nil {
		t.Errorf("node: %v\n%s", err, out)
	}
}
