package expr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

const updateValues = `{":n":{"N":"1"},":ten":{"N":"10"},":s":{"S":"new"},":l":{"L":[{"S":"end"}]},":ss":{"SS":["b","z"]},":all":{"SS":["b","a"]},":ns":{"NS":["9"]},
	":max":{"N":"9.9e125"},":m":{"M":{}},":t":{"BOOL":true}}`

func TestUpdate(t *testing.T) {
	for _, test := range []struct{ text, old, want string }{
		{"SET a = :s", `{}`, `{"a":{"S":"new"}}`},
		{"set a = b REMOVE b", `{"b":{"N":"1"}}`, `{"a":{"N":"1"}}`},
		{"SET a = b, b = a", `{"a":{"N":"1"},"b":{"N":"2"}}`, `{"a":{"N":"2"},"b":{"N":"1"}}`},
		{"SET a = a + :ten, b = :n - a", `{"a":{"N":"0.5"}}`, `{"a":{"N":"10.5"},"b":{"N":"0.5"}}`},
		{"SET a = (a + :ten)", `{"a":{"N":"1"}}`, `{"a":{"N":"11"}}`},
		{"SET a = (a) + (:ten)", `{"a":{"N":"1"}}`, `{"a":{"N":"11"}}`},
		{"SET a = if_not_exists(a, :n) + :ten", `{}`, `{"a":{"N":"11"}}`},
		{"SET a = if_not_exists(b, if_not_exists(c, :n))", `{"c":{"S":"c"}}`, `{"a":{"S":"c"},"c":{"S":"c"}}`},
		{"SET a = list_append(if_not_exists(a, :l), :l)", `{}`, `{"a":{"L":[{"S":"end"},{"S":"end"}]}}`},
		{"SET a = list_append(:l, a)", `{"a":{"L":[{"N":"1"}]}}`, `{"a":{"L":[{"S":"end"},{"N":"1"}]}}`},
		{"SET a.b.c = :n", `{"a":{"M":{"b":{"M":{}}}}}`, `{"a":{"M":{"b":{"M":{"c":{"N":"1"}}}}}}`},
		{"SET a.b = :n, a.c = :s REMOVE a.d", `{"a":{"M":{"d":{"N":"1"}}}}`, `{"a":{"M":{"b":{"N":"1"},"c":{"S":"new"}}}}`},
		{"SET a[1] = :s", `{"a":{"L":[{"N":"1"},{"N":"2"}]}}`, `{"a":{"L":[{"N":"1"},{"S":"new"}]}}`},
		{"SET a[9] = :s, a[7] = :n", `{"a":{"L":[]}}`, `{"a":{"L":[{"N":"1"},{"S":"new"}]}}`},
		{"REMOVE a[1] SET a[3] = :s", `{"a":{"L":[{"N":"2"},{"N":"3"},{"N":"4"},{"N":"5"},{"N":"6"}]}}`, `{"a":{"L":[{"N":"2"},{"N":"4"},{"S":"new"},{"N":"6"}]}}`},
		{"REMOVE a[0], a[1], a[17]", `{"a":{"L":[{"N":"2"},{"N":"3"},{"N":"4"}]}}`, `{"a":{"L":[{"N":"4"}]}}`},
		{"REMOVE a[0].b", `{"a":{"L":[{"M":{"b":{"N":"1"},"c":{"N":"2"}}}]}}`, `{"a":{"L":[{"M":{"c":{"N":"2"}}}]}}`},
		{"REMOVE a.x, b", `{"a":{"M":{}}}`, `{"a":{"M":{}}}`},
		{"ADD a :n, b :ns", `{}`, `{"a":{"N":"1"},"b":{"NS":["9"]}}`},
		{"ADD a.b :n", `{"a":{"M":{"b":{"N":"-1"}}}}`, `{"a":{"M":{"b":{"N":"0"}}}}`},
		{"ADD a :ss", `{"a":{"SS":["c","b"]}}`, `{"a":{"SS":["b","c","z"]}}`},
		{"DELETE a :ss", `{"a":{"SS":["c","b"]}}`, `{"a":{"SS":["c"]}}`},
		{"DELETE a :all, c :ss", `{"a":{"SS":["a","b"]}}`, `{}`},
		{"SET #b = :s, #a.#b = :n", `{"a.b":{"M":{}}}`, `{"[3]":{"S":"new"},"a.b":{"M":{"[3]":{"N":"1"}}}}`},
	} {
		u := mustUpdate(t, test.text)
		got, err := u.Apply(item(t, test.old))
		if err != nil || got.String() != test.want {
			t.Errorf("%s on %s:\n got %v, %v\nwant %s", test.text, test.old, got, err, test.want)
		}
	}
}

func mustUpdate(t testing.TB, text string) *expr.Update {
	t.Helper()
	b := request{names: map[string]string{"#a": "a.b", "#b": "[3]"}, values: updateValues}.binder(t)
	u, err := b.Update(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return u
}

func TestUpdateRunTimeFaults(t *testing.T) {
	const path = "The document path provided in the update expression is invalid for update"
	const operand = "An operand in the update expression has an incorrect data type"
	const missing = "The provided expression refers to an attribute that does not exist in the item"
	for _, test := range []struct{ text, old, want string }{
		{"SET a = b", `{}`, missing},
		{"SET a = :n, b = a", `{}`, missing},
		{"SET a = b + :n", `{}`, missing},
		{"SET a = list_append(b, :l)", `{}`, missing},
		{"SET a = b + :n", `{"b":{"S":"1"}}`, operand},
		{"SET a = list_append(b, :l)", `{"b":{"SS":["1"]}}`, operand},
		{"ADD a :n", `{"a":{"S":"1"}}`, operand},
		{"ADD a :ss", `{"a":{"NS":["1"]}}`, operand},
		{"DELETE a :ss", `{"a":{"L":[]}}`, operand},
		{"SET a.b = :n", `{}`, path},
		{"SET a.b = :n", `{"a":{"S":"x"}}`, path},
		{"SET a[0] = :n", `{"a":{"M":{}}}`, path},
		{"SET a[5].b = :n", `{"a":{"L":[]}}`, path},
		{"REMOVE a.b", `{}`, path},
		{"ADD a.b :n", `{}`, path},
		{"DELETE a.b.c :ss", `{"a":{"M":{}}}`, path},
		{"SET a = :max + :max", `{}`, "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{"SET a = :max + :n", `{}`, "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{"SET a" + strings.Repeat("[0]", 31) + " = :l", `{"a":` + strings.Repeat(`{"L":[`, 31) + `{"N":"1"}` + strings.Repeat(`]}`, 31) + `}`,
			"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
	} {
		_, err := mustUpdate(t, test.text).Apply(item(t, test.old))
		var fault *expr.Error
		if !errors.As(err, &fault) || fault.Message != test.want {
			t.Errorf("%s on %s:\n got %v\nwant %s", test.text, test.old, err, test.want)
		}
	}
}

func TestUpdateFaults(t *testing.T) {
	overlap := func(a, b string) string {
		return "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: " + a + ", path two: " + b
	}
	for text, want := range map[string]string{
		"":                                "The expression can not be empty;",
		"INVALID SYNTAX HERE":             `Syntax error; token: "INVALID", near: "INVALID SYNTAX"`,
		"SET _123 = :n":                   `Syntax error; token: "_", near: "SET _123"`,
		"SET a = :":                       `Syntax error; token: ":", near: "= :"`,
		"SET a = :n + :n + :n":            `Syntax error; token: "+", near: ":n + :n"`,
		"SET :a = :n":                     `Syntax error; token: ":a", near: "SET :a ="`,
		"SET a = if_not_exists(c, :n+:n)": `Syntax error; token: "+", near: ":n+:n"`,
		"SET a[:n] = :n":                  `Syntax error; token: ":n", near: "[:n]"`,
		"ADD a b":                         `Syntax error; token: "b", near: "a b"`,
		"SET a = :n,":                     `Syntax error; token: "<EOF>", near: ","`,
		"SET a = ((:n))":                  "The expression has redundant parentheses;",
		"SET a = :n SET b = :n":           `The "SET" section can only be used once in an update expression;`,
		"SET a = Set":                     `Syntax error; token: "Set", near: "= Set"`,
		"SET date = :n":                   "Attribute name is a reserved keyword; reserved keyword: date",
		"SET a = f(b,c,d)":                "Invalid function name; function: f",
		"SET a = LIST_APPEND(:l, :l)":     "Invalid function name; function: LIST_APPEND",
		"SET a = size(b)":                 "The function is not allowed in an update expression; function: size",
		"SET a = list_append(list_append(:l, :l), :l)":    "The function is not allowed to be used this way in an expression; function: list_append",
		"SET a = :x, #x = :n":                             "An expression attribute name used in the document path is not defined; attribute name: #x",
		"SET a = :x":                                      "An expression attribute value used in expression is not defined; attribute value: :x",
		"SET a = :n REMOVE a":                             overlap("[a]", "[a]"),
		"SET a.b = :n, a = :s":                            overlap("[a, b]", "[a]"),
		"SET a[1] = :n, a[1].c = :s":                      overlap("[a, [1]]", "[a, [1], c]"),
		"remove a.c set a[1] = :n":                        "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, c], path two: [a, [1]]",
		"ADD a :s":                                        "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
		"ADD a :l":                                        "Incorrect operand type for operator or function; operator: ADD, operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND",
		"DELETE a :n":                                     "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND",
		"SET a = :s + :n":                                 "Incorrect operand type for operator or function; operator or function: +, operand type: S",
		"SET a = list_append(:l, :n)":                     "Incorrect operand type for operator or function; operator or function: list_append, operand type: N",
		"SET a = list_append(:l)":                         "Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1",
		"SET a = if_not_exists(:n, :n)":                   "Operator or function requires a document path; operator or function: if_not_exists",
		"SET a = if_not_exists(if_not_exists(a, :n), :n)": "Operator or function requires a document path; operator or function: if_not_exists",
	} {
		_, err := request{values: updateValues}.binder(t).Update(text)
		if err == nil || err.Error() != "Invalid UpdateExpression: "+want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestUpdateOfNoItem(t *testing.T) {
	const pk = `{"pk":{"S":"k"}}`
	for text, want := range map[string]string{
		"SET a = :n":                      `{"a":{"N":"1"},"pk":{"S":"k"}}`,
		"ADD a :n REMOVE b.c, d[0].e":     `{"a":{"N":"1"},"pk":{"S":"k"}}`,
		"REMOVE a":                        "no item",
		"REMOVE a.b, c[1] DELETE d :ss":   "no item",
		"SET a.b = :n":                    "The document path provided in the update expression is invalid for update",
		"SET a = :n, b.c = :n REMOVE b.d": "The document path provided in the update expression is invalid for update",
		"SET a = b":                       "The provided expression refers to an attribute that does not exist in the item",
	} {
		got, err := mustUpdate(t, text).Create(item(t, pk))
		if err != nil {
			if err.Error() != want {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			continue
		}
		if got.String() != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestUpdateTells(t *testing.T) {
	u := mustUpdate(t, "SET a.b = :n, a.c = :n, d = :s, l[1] = :n ADD e :n REMOVE f")
	old := item(t, `{"pk":{"S":"k"},"a":{"M":{"b":{"N":"0"},"x":{"N":"9"}}},"f":{"S":"gone"},"l":{"L":[{"N":"1"},{"N":"2"}]}}`)
	updated, err := u.Apply(old)
	if err != nil {
		t.Fatal(err)
	}
	before, after := u.Changed(old, updated)
	const wantBefore = `{"a":{"M":{"b":{"N":"0"}}},"f":{"S":"gone"},"l":{"L":[{"N":"2"}]}}`
	const wantAfter = `{"a":{"M":{"b":{"N":"1"},"c":{"N":"1"}}},"d":{"S":"new"},"e":{"N":"1"},"l":{"L":[{"N":"1"}]}}`
	if before.String() != wantBefore || after.String() != wantAfter {
		t.Errorf("changed\n%s\n%s, want\n%s\n%s", before, after, wantBefore, wantAfter)
	}
	if got := strings.Join(u.Names(), " "); got != "a d l e f" {
		t.Errorf("names %s", got)
	}
	if got := strings.Join(u.NestedNames(), " "); got != "a l" {
		t.Errorf("nested names %s", got)
	}
	for name, want := range map[string]attr.Kind{"d": attr.KindS, "e": attr.KindN, "a": attr.KindNone, "f": attr.KindNone} {
		if got := u.ImmediateKind(name); got != want {
			t.Errorf("kind of %s: %s", name, got)
		}
	}
	if before, _ := u.Changed(attr.Empty(), updated); !before.IsNil() {
		t.Errorf("changed from nothing: %s", before)
	}
}

// The figures were measured on the service by padding a value up to the limit.
func TestUpdateCharge(t *testing.T) {
	const pad = 3 + 19 + len("b") // what SET b = :pad costs besides the padding
	for clause, want := range map[string]int{
		"":                           0,
		", c = abcdefghij":           19 + 1 + 1 + 14 + 10,
		", c = m.z":                  19 + 1 + 1 + 14 + 1 + 14 + 1,
		", c = l[10]":                19 + 1 + 1 + 14 + 1 + 14 + 2,
		", d.leaf = :ten":            19 + 1 + 4 + 4 + 2,
		", l = list_append(l, :l)":   19 + 1 + 37 + 16 + 7,
		", n = n + :n":               19 + 1 + 34 + 16 + 2,
		", n = n - :n":               19 + 1 + 37 + 16 + 2,
		", c = if_not_exists(c, :s)": 19 + 1 + 39 + 16 + 3,
		" ADD abcdefghij :n":         19 + 10 + 2,
		" REMOVE abcdefghij[1], m.y": 1 + 10 + 4 + 1 + 1 + 1 + 4 + 1,
		" DELETE abcdefghij :ss":     1 + 10,
	} {
		if got := mustUpdate(t, "SET b = :s"+clause).Charge(); got != pad+len("new")+want {
			t.Errorf("%s: %d, want %d", clause, got-pad-len("new"), want)
		}
	}
}
