package fanout

import (
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
)

// Decode turns a stream of rows into a stream of T by the rules of package
// attributevalue. A row that does not decode yields an error and the stream goes on.
func Decode[T any](rows iter.Seq2[Item, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			var v T
			if err == nil {
				if err = attributevalue.UnmarshalMap(row, &v); err != nil {
					err = fmt.Errorf("decode row as %T: %w", v, err)
				}
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// Collect gathers a stream of rows or of decoded values. It stops at the first
// error and returns it with what came before.
func Collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		if all == nil {
			all = make([]T, 0, 8)
		}
		all = append(all, v)
	}
	return all, nil
}
