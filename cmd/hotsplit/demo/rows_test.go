package demo

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/shard"
)

const exported = `{"Item":{"PK":{"S":"a"},"n":{"N":"12345678901234567890123456789012345678"},"b":{"B":"AAECAw=="},` +
	`"bs":{"BS":["AQ==","AA=="]},"ns":{"NS":["2","1"]},"ss":{"SS":["b","a"]},"m":{"M":{"l":{"L":[{"NULL":true},{"BOOL":false},{"S":"<&>"}]}}},"e":{"S":""}}}`

const canonical = `{"Item":{"PK":{"S":"a"},"b":{"B":"AAECAw=="},"bs":{"BS":["AA==","AQ=="]},"e":{"S":""},` +
	`"m":{"M":{"l":{"L":[{"NULL":true},{"BOOL":false},{"S":"<&>"}]}}},"n":{"N":"12345678901234567890123456789012345678"},"ns":{"NS":["1","2"]},"ss":{"SS":["a","b"]}}}` + "\n"

func TestExportComesBackByteForByte(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(exported))
	z.Close()
	for name, in := range map[string]string{"plain": exported + "\n\n", "gzipped": zipped.String(), "canonical": canonical} {
		rows, err := ReadExport(strings.NewReader(in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var out bytes.Buffer
		if err := WriteExport(&out, rows); err != nil || out.String() != canonical {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, out.String(), canonical)
		}
	}
}

func TestBadExportNamesTheLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "no rows",
		"{":                                  "line 1",
		exported + "\n{\"item\":3}":          "line 2",
		exported + "\n{}":                    `line 2: no "Item"`,
		exported + "\n[1]":                   "line 2",
		"\x1f\x8bxx":                         "gzip",
		`{"Item":{"PK":{"S":1}}}`:            "line 1",
		`{"Item":{"PK":{"B":"not base64"}}}`: "line 1",
	} {
		if _, err := ReadExport(strings.NewReader(in)); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want ErrInput with %q", in, err, want)
		}
	}
}

func TestSyntheticRowsAreTheADRs(t *testing.T) {
	layout := shard.Layout{Index: "i", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga"}
	rows, err := synthetic(DefaultRows, DefaultPersons, layout, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	archived, owners := 0, map[string]bool{}
	for _, row := range rows {
		spelled, err := canonicalItem(row)
		if err != nil || len(spelled) < 1800 || len(spelled) > 2600 {
			t.Fatalf("a row of %d bytes, %v", len(spelled), err)
		}
		owners[textOf(row, "personId")] = true
		if boolOf(row, "archived") {
			archived++
		}
		if textOf(row, "GSI4PK") != "RenewalSaga" {
			t.Fatalf("key %q", textOf(row, "GSI4PK"))
		}
	}
	if len(rows)-archived != 179 || archived != 60 || len(owners) != 120 {
		t.Errorf("%d open, %d archived, %d owners; the ADR has 179, 60, 120", len(rows)-archived, archived, len(owners))
	}
}
