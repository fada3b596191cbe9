package fanout

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// ErrQuery is wrapped by every error about a query that cannot be asked.
// Do not retry; the message names what to correct.
var ErrQuery = errors.New("fanout: bad query")

// ErrIndexUnavailable: the index or its table is missing, still being built, or
// was deleted while it was read. Do not retry at once; look at the table first.
var ErrIndexUnavailable = errors.New("fanout: index unavailable")

// ErrUnsettled: the routing changed under every attempt to read. Retry later; a
// routing that never settles means that somebody rewrites the record in a loop.
var ErrUnsettled = errors.New("fanout: routing changed during every attempt")

// ErrPartial is wrapped by every answer that lacks at least one shard. The rows
// that came before it are right. Retry for the rest.
var ErrPartial = errors.New("fanout: partial answer")

// ShardError is one partition key of an index that could not be read. Index is
// empty where a row of the moving set could not be read from the base table.
type ShardError struct {
	Table, Index, Key string
	Err               error
}

func (e *ShardError) Error() string {
	if e.Index == "" {
		return fmt.Sprintf("read moving rows of table %s: %v", e.Table, e.Err)
	}
	return fmt.Sprintf("query table %s index %s key %q: %v", e.Table, e.Index, e.Key, e.Err)
}

func (e *ShardError) Unwrap() error { return e.Err }

// PartialError names the shards that an answer lacks. It wraps ErrPartial and
// every shard's error.
type PartialError struct{ Failed []*ShardError }

func (e *PartialError) Error() string {
	names := make([]string, len(e.Failed))
	for i, f := range e.Failed {
		names[i] = f.Error()
	}
	return fmt.Sprintf("%v: %s", ErrPartial, strings.Join(names, "; "))
}

// Unwrap gives ErrPartial and the shards' errors.
func (e *PartialError) Unwrap() []error {
	errs := []error{ErrPartial}
	for _, f := range e.Failed {
		errs = append(errs, f)
	}
	return errs
}

// partial is the error of an answer that lacks the failed shards, nil without any.
func partial(failed map[Shard]*ShardError) error {
	if len(failed) == 0 {
		return nil
	}
	return &PartialError{slices.SortedFunc(maps.Values(failed), func(a, b *ShardError) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Key, b.Key))
	})}
}

// classify marks the errors that mean that there is no index to read. The
// service says so in the text of a ValidationException alone.
func classify(err error) error {
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return fmt.Errorf("%w: %w", ErrIndexUnavailable, err)
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || api.ErrorCode() != "ValidationException" {
		return err
	}
	text := strings.ToLower(api.ErrorMessage())
	if strings.Contains(text, "does not have the specified index") || strings.Contains(text, "backfilling global secondary index") {
		return fmt.Errorf("%w: %w", ErrIndexUnavailable, err)
	}
	return err
}
