package migrate

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// textOf is the value of a string attribute, and whether it is one.
func textOf(v types.AttributeValue) (string, bool) {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return "", false
	}
	return s.Value, true
}

// keyText spells the primary key of a row so that no two keys are spelled alike:
// each part carries its type and its length.
func keyText(names []string, row Item) string {
	var b strings.Builder
	for _, name := range names {
		kind, bytes := scalar(row[name])
		b.WriteByte(kind)
		var size [4]byte
		binary.BigEndian.PutUint32(size[:], uint32(len(bytes)))
		b.Write(size[:])
		b.WriteString(bytes)
	}
	return b.String()
}

// scalar is the type letter and text of a key attribute. Numbers are spelled by
// value, because 1 and 1.0 are one key.
func scalar(v types.AttributeValue) (kind byte, text string) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return 'S', v.Value
	case *types.AttributeValueMemberN:
		return 'N', canonicalNumber(v.Value)
	case *types.AttributeValueMemberB:
		return 'B', string(v.Value)
	}
	return 0, ""
}

// only keeps the named attributes of a row.
func only(names []string, row Item) Item {
	key := make(Item, len(names))
	for _, name := range names {
		key[name] = row[name]
	}
	return key
}

// projection spells a projection expression of top-level attributes.
func projection(attributes []string) (*string, map[string]string) {
	names := make(map[string]string, len(attributes))
	var words []string
	seen := map[string]bool{}
	for _, a := range attributes {
		if a == "" || seen[a] {
			continue
		}
		seen[a] = true
		word := fmt.Sprintf("#p%d", len(words))
		words = append(words, word)
		names[word] = a
	}
	return new(strings.Join(words, ", ")), names
}

const (
	pauseFirst = 25 * time.Millisecond
	pauseMax   = 2 * time.Second
)

// pauseAfter waits before the round-th repetition of a request, longer each time.
func pauseAfter(ctx context.Context, round int) error {
	if round == 0 {
		return ctx.Err()
	}
	return sleep(ctx, min(pauseFirst<<min(round-1, 10), pauseMax))
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
