package attr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

func decodeItem(t *testing.T, src string) attr.Item {
	t.Helper()
	i, next, err := attr.DecodeItem([]byte(src), 0)
	if err != nil {
		t.Fatalf("decode %s: %v", src, err)
	}
	if next != len(src) {
		t.Fatalf("decode %s: ended at %d of %d", src, next, len(src))
	}
	return i
}

func TestRoundTrip(t *testing.T) {
	for _, src := range []string{
		`{}`,
		`{"a":{"S":""}}`,
		`{"a":{"S":"x\"y\\z\n\u0001é😀"},"b":{"N":"-12.5"}}`,
		`{"bin":{"B":"AAECAwT/"},"empty":{"B":""}}`,
		`{"l":{"L":[{"S":"a"},{"L":[]},{"M":{"x":{"NULL":true},"y":{"M":{}}}},{"BOOL":false}]}}`,
		`{"bs":{"BS":["","AA==","/w=="]},"ns":{"NS":["1","2.5","3"]},"ss":{"SS":["","a","a#","z"]}}`,
		`{"t":{"BOOL":true}}`,
	} {
		if got := decodeItem(t, src).String(); got != src {
			t.Errorf("%s came back as %s", src, got)
		}
	}
}

func TestDecodeSpellings(t *testing.T) {
	for src, want := range map[string]string{
		` { "b" : { "S" : "1" } , "a" : { "N" : "1.0" } } `:       `{"a":{"N":"1"},"b":{"S":"1"}}`,
		`{"a":{"S":"1"},"a":{"S":"2"}}`:                           `{"a":{"S":"2"}}`,
		`{"a":{"S":"\u0061\ud83d\ude00\/","N":null}}`:             `{"a":{"S":"a😀/"}}`,
		`{"a":{"S":"\ud83dx"}}`:                                   `{"a":{"S":"�x"}}`,
		`{"a":{"BOOL":"yes"},"b":{"NULL":"1"}}`:                   `{"a":{"BOOL":true},"b":{"NULL":true}}`,
		`{"a":{"NS":["10","-2","9"]},"b":{"BS":["/w==","AA=="]}}`: `{"a":{"NS":["-2","9","10"]},"b":{"BS":["AA==","/w=="]}}`,
		`{"a":{"X":[1,{"y":2.5e3}],"S":"s"}}`:                     `{"a":{"S":"s"}}`,
		`{"a":{"SS":["é","b"]},"long":{"S":"` + long + `"}}`:      `{"a":{"SS":["b","é"]},"long":{"S":"` + long + `"}}`,
	} {
		if got := decodeItem(t, strings.TrimRight(src, " ")).String(); got != want {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
	}
}

var long = strings.Repeat("0123456789", 30)

func TestIllegalValues(t *testing.T) {
	const invalid = "One or more parameter values were invalid: "
	for src, want := range map[string]string{
		`{}`:                            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`null`:                          "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`{"S":null}`:                    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`{"S":"a","N":"1"}`:             "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
		`{"S":"a","N":"x"}`:             "The parameter cannot be converted to a numeric value: x",
		`{"SS":[]}`:                     invalid + "An string set  may not be empty",
		`{"NS":[]}`:                     invalid + "An number set  may not be empty",
		`{"BS":[]}`:                     invalid + "Binary sets should not be empty",
		`{"NULL":false}`:                invalid + "Null attribute value types must have the value of true",
		`{"SS":["b","a","b"]}`:          invalid + `Input collection ["a", "b", "b"] contains duplicates.`,
		`{"NS":["1","1.0"]}`:            invalid + "Input collection contains duplicates.",
		`{"BS":["/w==","AA==","AA=="]}`: invalid + `Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.`,
		`{"NS":["1",""]}`:               "The parameter cannot be converted to a numeric value: ",
		`{"SS":["a",null]}`:             invalid + "An string set may not have a null string as a member",
		`{"L":[{"M":{"a":{}}}]}`:        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		nested("M", 32):                 "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
		nested("L", 32):                 "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
		`{"N":"1` + zeros(126) + `"}`:   "Number overflow. Attempting to store a number with magnitude larger than supported range",
	} {
		v, next, err := attr.DecodeValue([]byte(src), 0)
		if err != nil || next != len(src) {
			t.Errorf("%s: %v at %d", src, err, next)
			continue
		}
		var invalid *attr.InvalidError
		if !errors.As(v.Err(), &invalid) || invalid.Message != want {
			t.Errorf("%s: got %v, want %s", src, v.Err(), want)
		}
		if v.Kind() != attr.KindNone || v.Len() != 0 || v.Size() != 0 {
			t.Errorf("%s: an illegal value shows content", src)
		}
		if i := decodeItem(t, `{"ok":{"S":""},"a":`+src+`}`); i.Err() == nil || i.Err().Error() != want || i.Len() != 0 || i.Size() != 0 {
			t.Errorf("%s in an item: %v", src, i)
		}
	}
	for src, want := range map[string]string{
		`{"n":{"N":"x"},"":{"S":"a"}}`:                           "Empty attribute name",
		`{"":{"S":"a"},"d":` + nested("M", 100) + `}`:            "Empty attribute name",
		`{"m":{"M":{"":{"S":"a"}}}}`:                             "Empty attribute name",
		`{"m":{"M":{"":{"S":"a"}}},"d":` + nested("M", 40) + `}`: "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
	} {
		if i := decodeItem(t, src); i.Err() == nil || i.Err().Error() != want {
			t.Errorf("%.60s: got %v, want %s", src, i.Err(), want)
		}
	}
	for _, kind := range []string{"M", "L"} {
		v, _, err := attr.DecodeValue([]byte(nested(kind, 31)), 0)
		if err != nil || v.Err() != nil || v.Depth() != attr.DepthMax {
			t.Errorf("31 levels of %s: %v, depth %d", kind, err, v.Depth())
		}
	}
}

func TestOlderWording(t *testing.T) {
	const invalid = "One or more parameter values were invalid: "
	for src, want := range map[string]string{
		`{"SS":["b","a","b"]}`:          invalid + "Input collection [b, a, b] contains duplicates.",
		`{"NS":["2","1","2"]}`:          "Input collection contains duplicates",
		`{"BS":["/w==","AA==","AA=="]}`: invalid + "Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
		`{"N":""}`:                      "The parameter cannot be converted to a numeric value",
		`{"N":"abc"}`:                   "The parameter cannot be converted to a numeric value: abc",
		`{"N":"1e126"}`:                 "Number overflow. Attempting to store a number with magnitude larger than supported range",
		`{"N":"1e2147483647"}`:          "Number underflow. Attempting to store a number with magnitude smaller than supported range",
	} {
		v, _, err := attr.DecodeValue([]byte(src), 0)
		var fault *attr.InvalidError
		if err != nil || !errors.As(v.Err(), &fault) || fault.Older != want {
			t.Errorf("%s: got %+v, want %s", src, fault, want)
		}
	}
	for levels, deep := range map[int]bool{32: false, 61: false, 63: true, 500: true} {
		v, _, err := attr.DecodeValue([]byte(nested("M", levels)), 0)
		var fault *attr.InvalidError
		if err != nil || !errors.As(v.Err(), &fault) || fault.Deep != deep {
			t.Errorf("%d levels: %v, %+v", levels, err, fault)
		}
	}
}

func nested(kind string, levels int) string {
	open, close := `{"M":{"n":`, `}}`
	if kind == "L" {
		open, close = `{"L":[`, `]}`
	}
	return strings.Repeat(open, levels) + `{"S":"x"}` + strings.Repeat(close, levels)
}

func zeros(n int) string { return strings.Repeat("0", n) }

func TestSerializationErrors(t *testing.T) {
	for src, want := range map[string]string{
		`{"S":1}`:                  "NUMBER_VALUE cannot be converted to String",
		`{"S":1.5}`:                "DECIMAL_VALUE cannot be converted to String",
		`{"N":true}`:               "TRUE_VALUE cannot be converted to String",
		`{"N":false}`:              "FALSE_VALUE cannot be converted to String",
		`{"S":[]}`:                 "Unrecognized collection type class java.lang.String",
		`{"S":{}}`:                 "Start of structure or map found where not expected",
		`{"B":1}`:                  "only base-64-encoded strings are convertible to bytes",
		`{"B":[]}`:                 "Unrecognized collection type class java.nio.ByteBuffer",
		`{"B":"abc"}`:              "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
		`{"B":"=+/="}`:             "Invalid last non-pad Base64 character dectected",
		`{"BOOL":1}`:               "NUMBER_VALUE cannot be converted to Boolean",
		`{"BOOL":"maybe"}`:         "Unexpected token received from parser",
		`{"NULL":[]}`:              "Unrecognized collection type class java.lang.Boolean",
		`{"SS":"a"}`:               "Unexpected field type",
		`{"SS":{}}`:                "Start of structure or map found where not expected",
		`{"NS":[1]}`:               "NUMBER_VALUE cannot be converted to String",
		`{"M":"a"}`:                "Unexpected field type",
		`{"M":[]}`:                 "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>",
		`{"L":["a"]}`:              "Unexpected value type in payload",
		`{"L":[[]]}`:               "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
		`"a"`:                      "Unexpected value type in payload",
		`{"S":"a"`:                 "",
		`{"S":"a` + "\n" + `"}`:    "",
		`{"S":"a` + "\xff" + `"}`:  "",
		`{"X":` + brackets(5000):   "",
		`{"M":{"a":{"S":"\u12"}}}`: "",
		``:                         "",
	} {
		_, _, err := attr.DecodeValue([]byte(src), 0)
		var syntax *attr.SyntaxError
		if !errors.As(err, &syntax) || syntax.Message != want {
			t.Errorf("%.60s: got %v, want %q", src, err, want)
		}
	}
}

func brackets(n int) string { return strings.Repeat("[", n) }

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"a":{"S":"x"},"b":{"L":[{"N":"1e3"},{"SS":["a","b"]}]}}`))
	f.Add([]byte(nested("M", 31)))
	f.Add([]byte(`{"a":{"B":"AAE="},"b":{"M":{"\ud83d":{"NULL":true}}},"c":{"NS":["1","2"]}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		i, next, err := attr.DecodeItem(src, 0)
		if next > len(src) {
			t.Fatalf("ended at %d of %d", next, len(src))
		}
		if err != nil || i.Err() != nil {
			return
		}
		wire := attr.AppendJSON(nil, i)
		again, _, err := attr.DecodeItem(wire, 0)
		if err != nil || !again.Equal(i) || again.Size() != i.Size() {
			t.Fatalf("%s came back as %v, %v", wire, again, err)
		}
		if _, _, err := attr.DecodeItem(append(wire, " trailing"...), 0); err != nil {
			t.Fatalf("with bytes behind it: %v", err)
		}
	})
}

func benchmarkItem() []byte {
	var b strings.Builder
	b.WriteString(`{"PK":{"S":"RSAGA#0000000001"},"SK":{"S":"META"},"GSI4PK":{"S":"RenewalSaga#5"},"GSI4SK":{"S":"person-0001#2026-07-10T00:00:00.000Z"}`)
	for i := range 6 {
		fmt.Fprintf(&b, `,"attribute%d":{"S":"some value of the row %d"}`, i, i)
	}
	b.WriteString(`,"n":{"N":"12345"},"ok":{"BOOL":true}}`)
	return []byte(b.String())
}

func BenchmarkDecodeItem(b *testing.B) {
	src := benchmarkItem()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = attr.DecodeItem(src, 0)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	i, _, _ := attr.DecodeItem(benchmarkItem(), 0)
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = attr.AppendJSON(dst[:0], i)
	}
	b.SetBytes(int64(len(dst)))
	b.ReportMetric(float64(i.Size()), "itemB")
}

func BenchmarkGet(b *testing.B) {
	i, _, _ := attr.DecodeItem(benchmarkItem(), 0)
	for b.Loop() {
		if i.Get("n").IsZero() {
			b.Fatal("no n")
		}
	}
}
