package expr_test

import (
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// request is what a test gives a Binder.
type request struct {
	names  map[string]string
	values string // JSON
}

func (r request) binder(t testing.TB) *expr.Binder {
	var values map[string]attr.Value
	if r.values != "" {
		values = map[string]attr.Value{}
		for name, v := range item(t, r.values).All() {
			values[name] = v
		}
	}
	return new(expr.Cache).Binder(r.names, values)
}

func item(t testing.TB, json string) attr.Item {
	t.Helper()
	i, _, err := attr.DecodeItem([]byte(json), 0)
	if err != nil || i.Err() != nil {
		t.Fatalf("item %s: %v, %v", json, err, i.Err())
	}
	return i
}

const row = `{"pk":{"S":"k"},"s":{"S":"hello"},"n":{"N":"5"},"b":{"B":"AQID"},"t":{"BOOL":true},"z":{"NULL":true},
	"l":{"L":[{"S":"x"},{"N":"7"},{"L":[{"N":"1"}]}]},"m":{"M":{"a":{"N":"1"},"c":{"M":{"d":{"S":"deep"}}}}},
	"ss":{"SS":["b","a"]},"ns":{"NS":["1","2"]},"two":{"N":"2"},"a.b":{"S":"dotted"}}`

const allValues = `{":s":{"S":"hello"},":h":{"S":"he"},":n":{"N":"5.0"},":six":{"N":"6"},":one":{"N":"1"},":b":{"B":"AQID"},":B":{"S":"B"},":t":{"BOOL":true},
	":l":{"L":[{"N":"1"}]},":ss":{"SS":["a","b"]},":SS":{"S":"SS"},":N":{"S":"N"},":big":{"N":"100"},":x":{"S":"x"},":seven":{"N":"7"}}`

func TestMatch(t *testing.T) {
	row := item(t, row)
	for text, want := range map[string]bool{
		"s = :s":                        true,
		"n = :n":                        true,
		"n <> :n":                       false,
		"s <> :n":                       true,
		"n < :six AND n >= :n":          true,
		":six > n":                      true,
		"s < :six":                      false,
		"gone = :s":                     false,
		"gone <> :s":                    true,
		"gone = absent":                 false,
		"gone <> absent":                true,
		"gone < absent":                 false,
		"n BETWEEN :one AND :six":       true,
		"n between two and :six":        true,
		"n BETWEEN :six AND :big":       false,
		"s IN (:n, :s)":                 true,
		"s IN (:n)":                     false,
		"ss = :ss":                      true,
		"l[2] = :l":                     true,
		"l[1] = :seven":                 true,
		"l[9] = :seven":                 false,
		"m.a = :one":                    true,
		"m.c.d <> :s":                   true,
		"m[0] = :one":                   false,
		"s.x = :one":                    false,
		"#d = :x":                       false,
		"attribute_exists(m.c.d)":       true,
		"attribute_exists (s)":          true,
		"attribute_not_exists(m.c.e)":   true,
		"attribute_type(n, :N)":         true,
		"attribute_type(ss, :SS)":       true,
		"attribute_type(:b, :B)":        true,
		"attribute_type(gone, :N)":      false,
		"begins_with(s, :h)":            true,
		"begins_with(:s, :h)":           true,
		"begins_with(n, :h)":            false,
		"begins_with(b, :b)":            true,
		"contains(s, :h)":               true,
		"contains(ss, :x)":              false,
		"contains(ns, :one)":            true,
		"contains(l, :x)":               true,
		"contains(l, :l)":               true,
		"contains(gone, :x)":            false,
		"contains(s, gone)":             false,
		"size(s) = :n":                  true,
		"size(l) < :n":                  true,
		"size(m) = two":                 true,
		"size(b) <> :n":                 true,
		"size(n) = :one":                false,
		"size(gone) <> :one":            true,
		"NOT s = :x":                    true,
		"NOT NOT s = :s":                true,
		"NOT s = :s AND n = :n":         false,
		"s = :s OR s = :x AND n = :x":   true,
		"(s = :s OR s = :x) AND n = :x": false,
		"(s) = (:s)":                    true,
		"((s = :s) AND (n = :n))":       true,
		"a.b = :s":                      false,
	} {
		b := request{names: map[string]string{"#d": "a.b"}, values: allValues}.binder(t)
		c, err := b.Condition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Match(row); got != want {
			t.Errorf("%s: got %v", text, got)
		}
		c.Match(attr.Item{})
	}
}

func TestConditionFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "The expression can not be empty;",
		"foo":                                `Syntax error; token: "<EOF>", near: "foo"`,
		"s == :s":                            `Syntax error; token: "=", near: "== :s"`,
		"a != :s":                            `Syntax error; token: "!", near: "a !="`,
		"a IN ()":                            `Syntax error; token: ")", near: "()"`,
		"a = :s AND":                         `Syntax error; token: "<EOF>", near: "AND"`,
		"a = :s b":                           `Syntax error; token: "b", near: ":s b"`,
		"[object Object]":                    `Syntax error; token: "[", near: "[object"`,
		"a[x] = :s":                          `Syntax error; token: "x", near: "[x]"`,
		"_a = :s":                            `Syntax error; token: "_", near: "_a"`,
		"a AND b = :s":                       `Syntax error; token: "AND", near: "a AND b"`,
		"a = é":                              `Syntax error; token: "é", near: "= é"`,
		"((a = :s))":                         "The expression has redundant parentheses;",
		"((a)) = :s":                         "The expression has redundant parentheses;",
		"a = :s AND ((attribute_exists(b)))": "The expression has redundant parentheses;",
		"dog(a) = :s":                        "Invalid function name; function: dog",
		"ATTRIBUTE_EXISTS(a)":                "Invalid function name; function: ATTRIBUTE_EXISTS",
		"if_not_exists(a, a) = :s":           "The function is not allowed in a condition expression; function: if_not_exists",
		"size(a)":                            "The function is not allowed to be used this way in an expression; function: size",
		"size(a) AND a = :s":                 "The function is not allowed to be used this way in an expression; function: size",
		"attribute_exists(a) < :n":           "The function is not allowed to be used this way in an expression; function: attribute_exists",
		"contains(a, size(b)) AND begins_with(attribute_exists(a), :s)": "The function is not allowed to be used this way in an expression; function: attribute_exists",
		"status = :s":                       "Attribute name is a reserved keyword; reserved keyword: status",
		"a.Data = :s":                       "Attribute name is a reserved keyword; reserved keyword: Data",
		"#x = :s":                           "An expression attribute name used in the document path is not defined; attribute name: #x",
		"a = :undefined":                    "An expression attribute value used in expression is not defined; attribute value: :undefined",
		"#x = :undefined AND size(:n) = :n": "An expression attribute name used in the document path is not defined; attribute name: #x",
		"attribute_exists(a, b)":            "Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2",
		"size(a, a) = :n":                   "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
		"attribute_exists(:s)":              "Operator or function requires a document path; operator or function: attribute_exists",
		"a = a":                             "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]",
		"contains(a[1].c, a[1].c)":          "The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a, [1], c]",
		"begins_with(a, :n)":                "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
		"a < :l":                            "Incorrect operand type for operator or function; operator or function: <, operand type: L",
		":t >= a":                           "Incorrect operand type for operator or function; operator or function: >=, operand type: BOOL",
		"size(:n) = :n":                     "Incorrect operand type for operator or function; operator or function: size, operand type: N",
		"attribute_type(a, b)":              "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}",
		"attribute_type(a, :n)":             "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N",
		"attribute_type(a, :s)":             "Invalid attribute type name found; type: hello, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
		"a BETWEEN :n AND :s":               "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {S:hello}",
		"a BETWEEN :n AND :one":             "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}",
		"a IN (" + strings.Repeat(":n,", 100) + ":n)":                    "The IN operator is provided with too many operands; number of operands: 101",
		"a[99999999999999999999] = :s":                                   "List index is not within the allowable range; index: [99999999999999999999]",
		strings.Repeat("a", 4097):                                        "Expression size has exceeded the maximum allowed size; expression size: 4097",
		strings.Repeat("(", 1000) + "a < :n" + strings.Repeat(")", 1000): "The expression has redundant parentheses;",
		strings.Repeat("not ", 1000) + "a < :n":                          "The expression contains too many operators; operator count: 301",
		"a = :n" + strings.Repeat(" OR a=:n", 300):                       "The expression contains too many operators; operator count: 301",
	} {
		b := request{values: allValues}.binder(t)
		_, err := b.Condition(text)
		if err == nil || err.Error() != "Invalid ConditionExpression: "+want {
			t.Errorf("%.80s:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestPlaceholderFaults(t *testing.T) {
	for _, test := range []struct {
		request
		want string
	}{
		{request{names: map[string]string{}}, "ExpressionAttributeNames must not be empty"},
		{request{values: `{}`}, "ExpressionAttributeValues must not be empty"},
		{request{names: map[string]string{"s": "a"}}, `ExpressionAttributeNames contains invalid key: Syntax error; key: "s"`},
		{request{names: map[string]string{"#": "a"}}, `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		{request{names: map[string]string{"#a-b": "a"}}, `ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"`},
		{request{values: `{"v":{"S":"a"}}`}, `ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`},
		{request{names: map[string]string{"#n": "a", "#m": "a"}}, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#m, #n}"},
		{request{values: `{":x":{"S":"a"}}`}, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}"},
	} {
		b := test.binder(t)
		_, err := b.Condition("attribute_exists(a)")
		if err == nil {
			err = b.Done()
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%+v:\n got %v\nwant %s", test.request, err, test.want)
		}
	}
	for _, test := range []struct {
		names map[string]string
		want  string
	}{
		{map[string]string{"#a": ""}, "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
		{map[string]string{"#a": strings.Repeat("x", 65536)}, "ExpressionAttributeNames contains invalid value: Attribute name is too large, must be less than 65536 bytes for key #a"},
		{map[string]string{"#" + strings.Repeat("a", 255) + "-": "x"}, "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 257"},
	} {
		if _, err := (request{names: test.names}).binder(t).Projection("a"); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	bad, _, _ := attr.DecodeValue([]byte(`{"N":"x"}`), 0)
	for older, want := range map[bool]string{
		false: "The parameter cannot be converted to a numeric value: x",
		true:  "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :v",
	} {
		b := new(expr.Cache).Binder(nil, map[string]attr.Value{":v": bad})
		b.Older = older
		if _, err := b.Condition("a = :v"); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestProjection(t *testing.T) {
	row := item(t, row)
	for text, want := range map[string]string{
		"s":                    `{"s":{"S":"hello"}}`,
		"gone":                 `{}`,
		"#d, n":                `{"a.b":{"S":"dotted"},"n":{"N":"5"}}`,
		"m.c.d":                `{"m":{"M":{"c":{"M":{"d":{"S":"deep"}}}}}}`,
		"m.a, m.c":             `{"m":{"M":{"a":{"N":"1"},"c":{"M":{"d":{"S":"deep"}}}}}}`,
		"l[2], l[0]":           `{"l":{"L":[{"S":"x"},{"L":[{"N":"1"}]}]}}`,
		"l[2][0]":              `{"l":{"L":[{"L":[{"N":"1"}]}]}}`,
		"l[7], l.x, m[0], s.x": "",
		"m.x.y, l[9]":          `{}`,
	} {
		b := request{names: map[string]string{"#d": "a.b"}}.binder(t)
		p, err := b.Projection(text)
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if got := p.Apply(row).String(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":          "The expression can not be empty;",
		"a,":        `Syntax error; token: "<EOF>", near: ","`,
		"a, a":      "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]",
		"a.b, a":    "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]",
		"a.b, a[1]": "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [1]]",
		"name":      "Attribute name is a reserved keyword; reserved keyword: name",
		"#x":        "An expression attribute name used in the document path is not defined; attribute name: #x",
	} {
		if _, err := (request{}).binder(t).Projection(text); err == nil || err.Error() != "Invalid ProjectionExpression: "+want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
