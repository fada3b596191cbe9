package migrate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/migrate"
)

func TestSpecNamesEachFieldAtFault(t *testing.T) {
	good := func() migrate.Spec { return rigSpec(0, 16) }
	for _, c := range []struct {
		field string
		spoil func(*migrate.Spec)
	}{
		{"name", func(s *migrate.Spec) { s.Name = "" }},
		{"table", func(s *migrate.Spec) { s.Table = "" }},
		{"owner", func(s *migrate.Spec) { s.Owner = "" }},
		{"owner", func(s *migrate.Spec) { s.Owner = "a\xff" }},
		{"key", func(s *migrate.Spec) { s.Key = nil }},
		{"key[1]", func(s *migrate.Spec) { s.Key = []string{"PK", "PK"} }},
		{"key[1]", func(s *migrate.Spec) { s.Key = []string{"PK", ""} }},
		{"entity", func(s *migrate.Spec) { s.Entity.Attribute = "entityType" }},
		{"from.base", func(s *migrate.Spec) { s.From.Base = "" }},
		{"to.base", func(s *migrate.Spec) { s.To.Base = "" }},
		{"from.partitionKey", func(s *migrate.Spec) { s.From.PartitionKey, s.PartitionKey = "", "" }},
		{"to.sortKey", func(s *migrate.Spec) { s.To.SortKey, s.SortKey = "", "" }},
		{"to.partitionKey", func(s *migrate.Spec) { s.To.PartitionKey = "PK" }},
		{"to", func(s *migrate.Spec) { s.To.Count = -1 }},
		{"to", func(s *migrate.Spec) { s.To.Count = 0 }},
		{"to", func(s *migrate.Spec) { s.To.Index = "another" }},
		{"prefix", func(s *migrate.Spec) { s.Prefix = strings.Repeat("x", 2000) }},
	} {
		spec := good()
		c.spoil(&spec)
		_, err := spec.Resolve()
		var faults *migrate.SpecError
		if !errors.As(err, &faults) || !errors.Is(err, migrate.ErrSpec) {
			t.Errorf("%s: %v, want a refusal", c.field, err)
			continue
		}
		named := false
		for _, f := range faults.Fields {
			named = named || f.Field == c.field
		}
		if !named {
			t.Errorf("%v does not name %s", err, c.field)
		}
	}
}

func TestSpecInherits(t *testing.T) {
	spec := rigSpec(0, 16)
	if spec.To.Index != "GSI4" || spec.From.SortKey != "GSI4SK" || spec.Prefix != "HOTSPLIT#renewal-saga" {
		t.Errorf("resolved %+v, want index, keys and prefix filled in", spec)
	}
}

func TestOptionsNameEachFieldAtFault(t *testing.T) {
	_, err := migrate.NewRunner(nil, rigSpec(0, 16), migrate.Options{Fence: "x", Source: "y", ChunkRows: 200, Segments: -1, BatchRows: -1, Budget: -1})
	for _, want := range []string{"fence", "source", "chunk", "segments", "batch", "pace"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

// Values that the service holds to be equal are compared as equal, and no others.
func TestTypedEquality(t *testing.T) {
	n := func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	ss := func(v ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: v} }
	null := &types.AttributeValueMemberNULL{Value: true}
	for _, c := range []struct {
		a, b  types.AttributeValue
		equal bool
	}{
		{n("1"), n("1.0"), true},
		{n("100"), n("1e2"), true},
		{n("-0.50"), n("-5E-1"), true},
		{n("0"), n("-0.000"), true},
		{n("12345678901234567890123456789012345678"), n("12345678901234567890123456789012345679"), false},
		{n("1"), s("1"), false},
		{s(""), null, false},
		{ss("a", "b"), ss("b", "a"), true},
		{ss("a", "b"), ss("ab"), false},
		{&types.AttributeValueMemberL{Value: []types.AttributeValue{s("a"), s("b")}}, &types.AttributeValueMemberL{Value: []types.AttributeValue{s("b"), s("a")}}, false},
		{&types.AttributeValueMemberM{Value: migrate.Item{"a": null}}, &types.AttributeValueMemberM{Value: migrate.Item{}}, false},
		{&types.AttributeValueMemberB{Value: []byte("a")}, s("a"), false},
		{&types.AttributeValueMemberNS{Value: []string{"1.0", "2"}}, &types.AttributeValueMemberNS{Value: []string{"2.0", "1"}}, true},
	} {
		if got := migrate.Equal(c.a, c.b); got != c.equal {
			t.Errorf("Equal(%v, %v) = %t", c.a, c.b, got)
		}
	}
}
