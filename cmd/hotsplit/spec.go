package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/migrate"
)

// specFlag is the flag that names a spec file.
type specFlag struct{ path string }

func (f *specFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "spec", "hotsplit.yaml", "`file` that says what to move; 'hotsplit init' writes one")
}

// read parses and checks the file. A field that is wrong, missing or unknown is
// an error that names it, exit code 2.
func (f *specFlag) read() (migrate.Spec, error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return migrate.Spec{}, badInput(fmt.Errorf("--spec: %w; 'hotsplit init' writes one", err))
	}
	spec, err := parseSpec(text)
	if err != nil {
		return migrate.Spec{}, badInput(fmt.Errorf("spec %s: %w", f.path, err))
	}
	return spec, nil
}

func parseSpec(text []byte) (migrate.Spec, error) {
	var spec migrate.Spec
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&spec); err != nil && !errors.Is(err, io.EOF) {
		return spec, err
	}
	return spec.Resolve()
}
