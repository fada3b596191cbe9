package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// stage is a script at work against a subject.
type stage struct {
	t        *testing.T
	s        Subject
	real     map[string]string // names of tables
	replacer *strings.Replacer
}

// play creates the tables of a script, plays its cases and deletes the tables.
func play(t *testing.T, s Subject, file string, sc *script) {
	g := &stage{t: t, s: s, real: make(map[string]string)}
	suffix := fmt.Sprintf("-%d", time.Now().UnixNano())
	names := slices.Clone(sc.names)
	for _, table := range sc.tables {
		names = append(names, table.name)
	}
	var pairs []string
	for _, name := range names {
		g.real[name] = "conformance-" + name + suffix
		pairs = append(pairs, "$"+name, g.real[name])
	}
	g.replacer = strings.NewReplacer(pairs...)
	defer g.dropTables()
	for _, table := range sc.tables {
		if err := g.createTable(table); err != nil {
			t.Fatalf("%s: table %s: %v", file, table.name, err)
		}
	}
	for _, c := range sc.cases {
		for _, st := range c.steps {
			if complaint := g.step(st); complaint != "" {
				t.Errorf("%s:%d: %s: %s: %s", file, st.line, c.title, st.operation, complaint)
				break
			}
		}
	}
}

// step sends a request and says what is wrong with the answer, "" if nothing.
func (g *stage) step(st step) string {
	st.request, st.expected = g.replacer.Replace(st.request), g.replacer.Replace(st.expected)
	deadline := time.Now().Add(waitMax)
	for {
		a, err := g.s.post(context.Background(), st.operation, []byte(st.request))
		if err != nil {
			return err.Error()
		}
		complaint := st.judge(a)
		again := st.eventually || a.throttled()
		if complaint == "" || !again || time.Now().After(deadline) {
			return complaint
		}
		time.Sleep(waitStep)
	}
}

// answerShownMax is how much of a wrong answer a complaint quotes.
const answerShownMax = 600

func (st step) judge(a answer) string {
	shown := string(a.body)
	if len(shown) > answerShownMax {
		shown = shown[:answerShownMax] + "…"
	}
	if st.code != "" {
		return st.judgeFault(a, shown)
	}
	if a.status != 200 {
		return fmt.Sprintf("got %d %s", a.status, shown)
	}
	if st.due == "ok" {
		return ""
	}
	return mismatch(st.expected, string(a.body), st.due == "~>")
}

func (st step) judgeFault(a answer, shown string) string {
	f := a.fault()
	switch {
	case f.Type == "" || a.status/100 != 4:
		return fmt.Sprintf("got %d %s, want %s", a.status, shown, st.code)
	case f.Type == st.code && st.due == "!>":
		return mismatch(st.expected, string(a.body), true)
	case f.Type == st.code && f.Message == st.expected, f.Type == st.code && st.due == "!~" && strings.Contains(f.Message, st.expected):
		return ""
	}
	return fmt.Sprintf("\n got %s %.900s\nwant %s %.900s", f.Type, f.Message, st.code, st.expected)
}

// createTable creates a table and waits until it can be used.
func (g *stage) createTable(table tableSpec) error {
	body, err := json.Marshal(table.request(g.real[table.name]))
	if err != nil {
		return err
	}
	a, err := g.s.post(context.Background(), "CreateTable", body)
	if err != nil {
		return err
	}
	if a.status != 200 {
		return fmt.Errorf("create: %s", a.body)
	}
	if complaint := g.step(step{
		operation: "DescribeTable", eventually: true, due: "~>",
		request: `{"TableName":"$` + table.name + `"}`, expected: `{"Table":{"TableStatus":"ACTIVE"}}`,
	}); complaint != "" {
		return fmt.Errorf("wait: %s", complaint)
	}
	return nil
}

// dropTables leaves nothing behind. Cases may have deleted a table themselves.
func (g *stage) dropTables() {
	for name, real := range g.real {
		body := fmt.Appendf(nil, `{"TableName":%q}`, real)
		if _, err := g.s.post(context.Background(), "DeleteTable", body); err != nil {
			g.t.Errorf("delete table %s: %v", name, err)
		}
	}
}

// object is a JSON object under construction.
type object = map[string]any

// request is the CreateTable request of the table.
func (s tableSpec) request(name string) object {
	definitions := map[string]string{}
	var globals, locals []object
	for _, index := range s.indexes {
		key := index.key
		if !index.global {
			key = append([]attributeSpec{s.key[0]}, key...)
		}
		projection := object{"ProjectionType": index.projection}
		if index.include != nil {
			projection["NonKeyAttributes"] = index.include
		}
		o := object{"IndexName": index.name, "KeySchema": keySchema(key, definitions), "Projection": projection}
		if index.global {
			globals = append(globals, o)
		} else {
			locals = append(locals, o)
		}
	}
	o := object{"TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": keySchema(s.key, definitions)}
	if globals != nil {
		o["GlobalSecondaryIndexes"] = globals
	}
	if locals != nil {
		o["LocalSecondaryIndexes"] = locals
	}
	var list []object
	for attribute, kind := range definitions {
		list = append(list, object{"AttributeName": attribute, "AttributeType": kind})
	}
	o["AttributeDefinitions"] = list
	return o
}

func keySchema(key []attributeSpec, definitions map[string]string) []object {
	var schema []object
	for i, a := range key {
		definitions[a.name] = a.kind
		schema = append(schema, object{"AttributeName": a.name, "KeyType": [...]string{"HASH", "RANGE"}[min(i, 1)]})
	}
	return schema
}
