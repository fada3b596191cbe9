package expr_test

import (
	"testing"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

func keyRange(t *testing.T, text, sort string) (expr.Range, error) {
	t.Helper()
	b := request{names: map[string]string{"#h": "h"}, values: `{":h":{"S":"k"},":a":{"S":"b"},":z":{"S":"d"}}`}.binder(t)
	k, err := b.KeyCondition(text)
	if err != nil {
		return expr.Range{}, err
	}
	return k.For("h", sort)
}

func TestKeyCondition(t *testing.T) {
	for text, want := range map[string]string{
		"h = :h":                         "abcde",
		":h = #h":                        "abcde",
		"h = :h AND r = :a":              "b",
		"h = :h AND r < :a":              "a",
		"r <= :a AND h = :h":             "ab",
		"(h = :h) AND (r > :a)":          "cde",
		"(h = :h AND r >= :a)":           "bcde",
		"h = :h AND :a < r":              "cde",
		"h = :h AND :a >= r":             "ab",
		"h = :h aNd r bETWEEN :a And :z": "bcd",
		"h = :h AND begins_with(r, :a)":  "b",
	} {
		r, err := keyRange(t, text, "r")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			if r.Contains(attr.String(key)) {
				got += key
			}
		}
		if got != want || r.Hash.Text() != "k" {
			t.Errorf("%s: got %s of %s", text, got, r.Hash)
		}
	}
}

func TestKeyConditionFaults(t *testing.T) {
	const invalid = "Invalid KeyConditionExpression: "
	for _, test := range []struct{ text, sort, want string }{
		{"r = :a", "r", "Query condition missed key schema element: h"},
		{"x = :a", "r", "Query condition missed key schema element: h"},
		{"h = :h AND x = :a", "r", "Query condition missed key schema element: r"},
		{"h = :h AND x = :a", "", "The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)"},
		{"h < :h", "r", "Query key condition not supported"},
		{"h = :h AND r = :a AND x = :a", "r", "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)"},
		{"h = :h AND h = :h", "r", invalid + "KeyConditionExpressions must only contain one condition per key"},
		{"h = :h AND r >= :a AND r <= :z", "r", invalid + "KeyConditionExpressions must only contain one condition per key"},
		{"h = :h OR r = :a", "r", invalid + "Invalid operator used in KeyConditionExpression: OR"},
		{"NOT h = :h", "r", invalid + "Invalid operator used in KeyConditionExpression: NOT"},
		{"h = :h AND r <> :a", "r", invalid + "Invalid operator used in KeyConditionExpression: <>"},
		{"h = :h AND r IN (:a)", "r", invalid + "Invalid operator used in KeyConditionExpression: IN"},
		{"h = :h AND attribute_exists(r)", "r", invalid + "Invalid operator used in KeyConditionExpression: attribute_exists"},
		{"h = :h AND size(r) = :a", "r", invalid + "KeyConditionExpressions cannot contain nested operations"},
		{"h = :h AND r.x = :a", "r", invalid + "KeyConditionExpressions cannot have conditions on nested attributes"},
		{"h = r", "r", invalid + "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
		{":h = :a", "r", invalid + "Invalid condition in KeyConditionExpression: No key attribute specified"},
		{"h = :h AND :a BETWEEN r AND :z", "r", invalid + "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand"},
		{"h = :h AND begins_with(:z, r)", "r", invalid + "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand"},
		{"", "r", invalid + "The expression can not be empty;"},
		{"((h = :h))", "r", invalid + "The expression has redundant parentheses;"},
		{"h = :h AND dog(r, :a)", "r", invalid + "Invalid function name; function: dog"},
		{"h = :undefined", "r", invalid + "An expression attribute value used in expression is not defined; attribute value: :undefined"},
	} {
		if _, err := keyRange(t, test.text, test.sort); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}
