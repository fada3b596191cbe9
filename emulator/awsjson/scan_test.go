package awsjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// accepts says whether the scanner takes text for one JSON value.
func accepts(text string) bool {
	s := scanner{src: []byte(text)}
	return s.skip() == nil && s.end() == nil
}

// shallow says that text nests less than the scanner's own bound.
func shallow(text string) bool {
	return strings.Count(text, "[")+strings.Count(text, "{") < nestingMax
}

var jsonTexts = []string{
	`{}`, `[]`, `null`, `true`, `-0`, `0`, `-1.5e+10`, `"a"`, ` { "a" : [ 1 , 2.0 , { } ] , "b" : null } `, `"\ud83d\ude00\n\/"`, `{"a":{"b":{"c":[[[]]]}}}`,
	``, `{`, `}`, `{}}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `tru`, `nul`, `"`, `"\x"`, `"\u12"`, `"\ud83d"`, "\"\n\"", `{"a":1 "b":2}`, `{a:1}`, `'a'`,
	`NaN`, `Infinity`, "\xef\xbb\xbf{}", `{"a":1}x`, "\x00",
}

func TestScannerTakesJSONOnly(t *testing.T) {
	for _, text := range jsonTexts {
		if got, want := accepts(text), json.Valid([]byte(text)); got != want {
			t.Errorf("%q: accepted %v, want %v", text, got, want)
		}
	}
	if accepts(`"` + "\xff" + `"`) {
		t.Error("a string that is not UTF-8 is accepted")
	}
	if deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000); accepts(deep) {
		t.Error("nesting has no bound")
	}
}

func TestScannerReadsStrings(t *testing.T) {
	for text, want := range map[string]string{
		`"plain"`: "plain", `"zażółć"`: "zażółć", `"a\"b\\c\/d\b\f\n\r\t"`: "a\"b\\c/d\b\f\n\r\t",
		`"\u0041\u00e9\ud83d\ude00"`: "Aé😀", `"\ud83d"`: "\ufffd", `"\ud83dx"`: "\ufffdx", `"\ud83d\u0041"`: "\ufffdA",
	} {
		s := scanner{src: []byte(text)}
		got, err := s.string()
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

// FuzzScanner compares the scanner with encoding/json, which differs in taking
// strings that are not UTF-8.
func FuzzScanner(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, want := accepts(text), json.Valid([]byte(text))
		if got && !want || !got && want && utf8.ValidString(text) && shallow(text) {
			t.Fatalf("%q: accepted %v, encoding/json %v", text, got, want)
		}
		var decoded string
		s := scanner{src: []byte(text)}
		if s.peek() != '"' {
			return
		}
		ours, err := s.string()
		if err == nil && s.end() == nil && json.Unmarshal([]byte(text), &decoded) == nil && decoded != ours {
			t.Fatalf("%q: %q, encoding/json %q", text, ours, decoded)
		}
	})
}

// The service's words for members of a wrong JSON type.
func TestWrongTypes(t *testing.T) {
	for _, c := range []struct{ operation, body, want string }{
		{"GetItem", `{"TableName":1}`, "NUMBER_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":1.5}`, "DECIMAL_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":true}`, "TRUE_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":false}`, "FALSE_VALUE cannot be converted to String"},
		{"GetItem", `{"TableName":[]}`, "Unrecognized collection type class java.lang.String"},
		{"GetItem", `{"TableName":{}}`, "Start of structure or map found where not expected"},
		{"GetItem", `{"ConsistentRead":1}`, "NUMBER_VALUE cannot be converted to Boolean"},
		{"GetItem", `{"ConsistentRead":"maybe"}`, "Unexpected token received from parser"},
		{"GetItem", `{"Key":"a"}`, "Unexpected field type"},
		{"GetItem", `{"Key":[]}`, "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"},
		{"GetItem", `{"Key":{"a":"b"}}`, "Unexpected value type in payload"},
		{"GetItem", `{"Key":{"a":[]}}`, "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"},
		{"GetItem", `{"ExpressionAttributeNames":[]}`, "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>"},
		{"GetItem", `{"ExpressionAttributeNames":"a"}`, "Unexpected field type"},
		{"Query", `{"Limit":"5"}`, "STRING_VALUE cannot be converted to Integer"},
		{"Query", `{"Limit":[]}`, "Unrecognized collection type class java.lang.Integer"},
		{"CreateTable", `{"ProvisionedThroughput":{"ReadCapacityUnits":"1"}}`, "STRING_VALUE cannot be converted to Long"},
		{"CreateTable", `{"ProvisionedThroughput":[]}`, "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ProvisionedThroughput"},
		{"CreateTable", `{"ProvisionedThroughput":1}`, "Unexpected field type"},
		{"CreateTable", `{"KeySchema":{}}`, "Start of structure or map found where not expected"},
		{"CreateTable", `{"KeySchema":"a"}`, "Unexpected field type"},
		{"CreateTable", `{"KeySchema":["a"]}`, "Unexpected value type in payload"},
		{"BatchGetItem", `{"RequestItems":[]}`, "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.KeysAndAttributes>"},
		{"BatchWriteItem", `{"RequestItems":{"a":"b"}}`, parameterizedType},
		{"BatchGetItem", `{"RequestItems":{"a":{"Keys":[1]}}}`, parameterizedType},
		{"BatchWriteItem", `{"RequestItems":{"a":{}}}`, "Start of structure or map found where not expected"},
		{"BatchWriteItem", `{"RequestItems":{"a":[{"PutRequest":{"Item":1}}]}}`, "Unexpected field type"},
		{"GetItem", `[]`, "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.GetItemInput"},
		{"GetItem", `{"TableName":"a"`, ""},
		{"GetItem", `{"TableName":"a"}}`, ""},
		{"GetItem", `{"TableName":"a",}`, ""},
		{"GetItem", ``, ""},
		{"GetItem", `{"Unknown":{"a":[1,{"b":tru}]}}`, ""},
	} {
		x := &exchange{scanner: scanner{src: []byte(c.body)}}
		err := operations[c.operation](x)
		wrong, ok := err.(*serialization)
		if !ok || wrong.message != c.want {
			t.Errorf("%s %s: %v, want %q", c.operation, c.body, err, c.want)
		}
	}
}

func TestNumbersAreCutAndBounded(t *testing.T) {
	for text, want := range map[string]int64{"5": 5, "5.9": 5, "-5.1": -6, "1e3": 1000, "1e300": 1<<63 - 1, "-1e300": -1 << 63, "123456789012345678901234567890": 1<<63 - 1} {
		s := scanner{src: []byte(text)}
		if got, err := s.long(); err != nil || *got != want {
			t.Errorf("%s: %v, %v; want %d", text, *got, err, want)
		}
	}
	s := scanner{src: []byte("99999999999")}
	if got, _ := s.int(); *got != 1<<31-1 {
		t.Errorf("an Integer of %d", *got)
	}
}

func TestUnknownAndNullMembersAreAbsent(t *testing.T) {
	table := scanner{src: []byte(`{"GlobalSecondaryIndexes":[null,{"KeySchema":[null]}],"Tags":[null],"ProvisionedThroughput":null}`)}
	if in, err := decodeCreateTable(&table); err != nil || len(in.GlobalSecondaryIndexes) != 2 || len(in.Tags) != 1 || in.ProvisionedThroughput != nil {
		t.Errorf("%+v, %v", in, err)
	}
	s := scanner{src: []byte(`{"TableName":null,"Nonsense":{"TableName":"x"},"Limit":null,"Select":"COUNT","KeyConditions":{}}`)}
	in, err := decodeQuery(&s)
	if err != nil || in.TableName != nil || in.Limit != nil || in.Select != "COUNT" || len(in.Legacy) != 1 {
		t.Errorf("%+v, %v", in, err)
	}
}
