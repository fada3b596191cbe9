package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// canonicalItem spells a row as JSON with members and sets in order: rows are
// equal exactly when their spellings are.
func canonicalItem(row item) ([]byte, error) {
	spelled, err := attributevalue.MarshalMapJSON(sortedSets(row))
	if err != nil {
		return nil, fmt.Errorf("spell row: %w", err)
	}
	var tree any
	if err := json.Unmarshal(spelled, &tree); err != nil {
		return nil, fmt.Errorf("spell row: %w", err)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return nil, fmt.Errorf("spell row: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func sortedSets(row item) item {
	sorted := make(item, len(row))
	for name, v := range row {
		sorted[name] = sortedSet(v)
	}
	return sorted
}

func sortedSet(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: slices.Sorted(slices.Values(v.Value))}
	case *types.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: slices.Sorted(slices.Values(v.Value))}
	case *types.AttributeValueMemberBS:
		return &types.AttributeValueMemberBS{Value: slices.SortedFunc(slices.Values(v.Value), bytes.Compare)}
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: sortedSets(v.Value)}
	case *types.AttributeValueMemberL:
		list := make([]types.AttributeValue, len(v.Value))
		for i := range list {
			list[i] = sortedSet(v.Value[i])
		}
		return &types.AttributeValueMemberL{Value: list}
	default:
		return v
	}
}

// fingerprint spells a row without the attributes that may change.
func fingerprint(row item, ignored ...string) (string, error) {
	rest := make(item, len(row))
	for name, v := range row {
		if !slices.Contains(ignored, name) {
			rest[name] = v
		}
	}
	spelled, err := canonicalItem(rest)
	return string(spelled), err
}
