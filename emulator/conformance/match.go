package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// anyValue stands for a value that only has to be there.
const anyValue = "<any>"

// mismatch compares JSON and says where it differs, "" if nowhere. With subset,
// objects may have more members than expected.
func mismatch(expected, got string, subset bool) string {
	var want, have any
	if err := json.Unmarshal([]byte(expected), &want); err != nil {
		return fmt.Sprintf("expected answer: %v", err)
	}
	if err := json.Unmarshal([]byte(got), &have); err != nil {
		return fmt.Sprintf("answer: %v", err)
	}
	return differ("", want, have, subset)
}

func differ(at string, want, have any, subset bool) string {
	if want == anyValue {
		return ""
	}
	switch w := want.(type) {
	case map[string]any:
		if h, ok := have.(map[string]any); ok {
			return differObjects(at, w, h, subset)
		}
	case []any:
		if h, ok := have.([]any); ok {
			return differLists(at, w, h, subset)
		}
	default:
		if want == have {
			return ""
		}
	}
	return fmt.Sprintf("at %s: got %s, want %s", place(at), spell(have), spell(want))
}

func place(at string) string {
	if at == "" {
		return "the top"
	}
	return at
}

func spell(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func differObjects(at string, want, have map[string]any, subset bool) string {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		name, unordered := strings.CutSuffix(key, "~")
		value, found := have[name]
		if !found {
			return fmt.Sprintf("at %s: %s is missing", place(at), name)
		}
		w := want[key]
		if unordered {
			w, value = inOrder(w), inOrder(value)
		}
		if d := differ(at+"."+name, w, value, subset); d != "" {
			return d
		}
	}
	if subset {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		_, exact := want[name]
		_, open := want[name+"~"]
		if !exact && !open {
			return fmt.Sprintf("at %s: %s is not expected: %s", place(at), name, spell(have[name]))
		}
	}
	return ""
}

func differLists(at string, want, have []any, subset bool) string {
	if len(want) != len(have) {
		return fmt.Sprintf("at %s: got %s, want %s", place(at), spell(have), spell(want))
	}
	for i := range want {
		if d := differ(fmt.Sprintf("%s[%d]", at, i), want[i], have[i], subset); d != "" {
			return d
		}
	}
	return ""
}

// inOrder sorts a list by the spelling of its elements.
func inOrder(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	return slices.SortedFunc(slices.Values(list), func(a, b any) int { return strings.Compare(spell(a), spell(b)) })
}
