package conformance

import (
	"embed"
	"path"
	"testing"
)

//go:embed scripts/*.txt
var scripts embed.FS

// Run asks the subject for everything, each script and each test of the SDK as a
// subtest.
func Run(t *testing.T, s Subject) {
	around := s.Around
	if around == nil {
		around = func(t *testing.T, test func(*testing.T, Subject)) { test(t, s) }
	}
	files, err := scripts.ReadDir("scripts")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(file.Name()[:len(file.Name())-len(path.Ext(file.Name()))], func(t *testing.T) {
			text, err := scripts.ReadFile("scripts/" + file.Name())
			if err != nil {
				t.Fatal(err)
			}
			sc, err := parseScript(string(text))
			if err != nil {
				t.Fatalf("%s: %v", file.Name(), err)
			}
			around(t, func(t *testing.T, s Subject) { play(t, s, file.Name(), sc) })
		})
	}
	for _, test := range sdkTests {
		t.Run(test.name, func(t *testing.T) { around(t, test.run) })
	}
}

// sdkTest asks for a promise through the SDK.
type sdkTest struct {
	name string
	run  func(t *testing.T, s Subject)
}
