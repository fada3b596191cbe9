package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/migrate"
)

// spellSpec writes a spec as YAML with a comment above each field that a person
// should think about.
func spellSpec(s migrate.Spec, notes []migrate.Note) string {
	var b strings.Builder
	said := map[string]bool{}
	field := func(name, value string) {
		for _, n := range notes {
			if n.Field == name {
				said[name] = true
				fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(n.Text, "\n", "\n# "))
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", name, value)
	}
	b.WriteString("# What hotsplit moves, and where to. See 'hotsplit check' and 'hotsplit move'.\n")
	field("name", strconv.Quote(s.Name))
	field("table", strconv.Quote(s.Table))
	quoted := make([]string, len(s.Key))
	for i, name := range s.Key {
		quoted[i] = strconv.Quote(name)
	}
	field("key", "["+strings.Join(quoted, ", ")+"]")
	field("owner", strconv.Quote(s.Owner))
	if s.Entity.Attribute != "" {
		field("entity", fmt.Sprintf("{attribute: %q, value: %q}", s.Entity.Attribute, s.Entity.Value))
	}
	field("index", strconv.Quote(firstOf(s.Index, s.From.Index)))
	field("partitionKey", strconv.Quote(firstOf(s.PartitionKey, s.From.PartitionKey)))
	if sortKey := firstOf(s.SortKey, s.From.SortKey); sortKey != "" {
		field("sortKey", strconv.Quote(sortKey))
	}
	field("from", fmt.Sprintf("{base: %q, count: %d}", s.From.Base, s.From.Count))
	field("to", fmt.Sprintf("{base: %q, count: %d}", s.To.Base, s.To.Count))
	for _, n := range notes {
		if !said[n.Field] {
			fmt.Fprintf(&b, "# %s: %s\n", n.Field, strings.ReplaceAll(n.Text, "\n", "\n# "))
		}
	}
	return b.String()
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// createFile writes a file that must not be there yet: a spec is somebody's work.
func createFile(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(file, text); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

func jsonWriter(v any) func(io.Writer) error {
	return func(w io.Writer) error { return printJSON(w, v) }
}
