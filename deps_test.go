package hotsplit

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hotsplit/hotsplit"

// rule says what a package may import beyond the standard library: our own
// packages by exact path, others by prefix.
type rule struct {
	ours   []string
	others []string
}

var (
	awsSDK = []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"}
	otel   = "go.opentelemetry.io/otel"
)

// imports is the import rule of the module. A package that is not listed fails.
var imports = map[string]rule{
	"":                     {},
	"shard":                {},
	"capacity":             {},
	"emulator/attr":        {others: []string{"github.com/cockroachdb/apd/v3"}},
	"renewal":              {},
	"emulator/expr":        {ours: []string{"emulator/attr"}},
	"emulator":             {ours: []string{"emulator/attr", "emulator/expr", "capacity"}, others: []string{"github.com/tidwall/btree"}},
	"emulator/awsjson":     {ours: []string{"emulator", "emulator/attr"}},
	"emulator/conformance": {others: awsSDK},
	"fanout":               {ours: []string{"shard"}, others: append([]string{"golang.org/x/sync", "github.com/maypok86/otter/v2", otel}, awsSDK...)},
	"heat":                 {ours: []string{"capacity", "shard"}, others: append([]string{otel}, awsSDK...)},
	"migrate":              {ours: []string{"shard", "fanout", "capacity"}, others: append([]string{"golang.org/x/sync", otel}, awsSDK...)},
	"migrate/proof":        {ours: []string{"*"}, others: append([]string{"golang.org/x/sync"}, awsSDK...)}, // test code
	"sim":                  {ours: []string{"shard", "capacity"}, others: []string{otel}},
	"renewal/dynamostore":  {ours: []string{"renewal", "shard", "fanout"}, others: append([]string{otel}, awsSDK...)},
	"renewal/temporalsaga": {ours: []string{"renewal"}, others: []string{"go.temporal.io/sdk", "go.temporal.io/api", otel}},
	"renewal/web":          {ours: []string{"renewal"}, others: []string{otel}},
	"cmd":                  {ours: []string{"*"}, others: []string{"*"}}, // and all below it
}

type listed struct {
	ImportPath string
	Doc        string
	Standard   bool
	Imports    []string
}

func goList(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func (r rule) allows(path string) bool {
	if path == module || strings.HasPrefix(path, module+"/") {
		return slices.Contains(r.ours, "*") || slices.Contains(r.ours, short(path))
	}
	standard := !strings.Contains(strings.SplitN(path, "/", 2)[0], ".")
	return standard || slices.ContainsFunc(r.others, func(prefix string) bool {
		return prefix == "*" || path == prefix || strings.HasPrefix(path, prefix+"/")
	})
}

func TestImports(t *testing.T) {
	for _, p := range goList(t) {
		name := short(p.ImportPath)
		if strings.HasPrefix(name, "cmd/") {
			name = "cmd"
		}
		r, known := imports[name]
		if !known {
			t.Errorf("%s is not in the import table: add it with its rule, or move the code", p.ImportPath)
		}
		for _, path := range p.Imports {
			if known && !r.allows(path) {
				t.Errorf("%s imports %s, which its rule does not allow", p.ImportPath, path)
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range goList(t) {
		if strings.TrimSpace(p.Doc) == "" {
			t.Errorf("%s has no package comment: say in one sentence what it knows", p.ImportPath)
		}
	}
}
