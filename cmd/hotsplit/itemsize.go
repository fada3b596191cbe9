package main

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// scalar is a key attribute's value as text, "" for what cannot be one.
func scalar(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	}
	return ""
}

// itemSize is an item's size as the service counts it for units.
func itemSize(item map[string]types.AttributeValue) int {
	size := 0
	for name, v := range item {
		size += len(name) + valueSize(v)
	}
	return size
}

func valueSize(v types.AttributeValue) int {
	const container, element = 3, 1
	size := 0
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		return 1
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			size += len(s)
		}
	case *types.AttributeValueMemberNS:
		for _, s := range v.Value {
			size += numberSize(s)
		}
	case *types.AttributeValueMemberBS:
		for _, s := range v.Value {
			size += len(s)
		}
	case *types.AttributeValueMemberL:
		size = container
		for _, e := range v.Value {
			size += element + valueSize(e)
		}
	case *types.AttributeValueMemberM:
		size = container
		for name, e := range v.Value {
			size += element + len(name) + valueSize(e)
		}
	}
	return size
}

// numberSize is about half a byte a digit, and one.
func numberSize(n string) int {
	digits := len(strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(n), "0"))
	return (digits+1)/2 + 1
}
