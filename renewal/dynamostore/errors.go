package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/shard"
)

// fault wraps what DynamoDB or the routing answered. What time alone may mend,
// throttles and lost connections above all, is an ErrUnavailable too.
func fault(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, shard.ErrOwner):
		return fmt.Errorf("%s: %w: %w", what, renewal.ErrInvalid, err)
	case known(err), errors.Is(err, context.Canceled), permanent(err):
		return fmt.Errorf("%s: %w", what, err)
	default:
		return fmt.Errorf("%s: %w: %w", what, renewal.ErrUnavailable, err)
	}
}

func known(err error) bool {
	for _, sentinel := range []error{renewal.ErrNotFound, renewal.ErrConflict, renewal.ErrIllegalMove, renewal.ErrInvalid, renewal.ErrUnavailable} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

// permanent: the service understood and will answer the same again.
func permanent(err error) bool {
	if errors.Is(err, fanout.ErrQuery) {
		return true
	}
	if errors.Is(err, fanout.ErrIndexUnavailable) {
		return false
	}
	var api smithy.APIError
	return errors.As(err, &api) && (api.ErrorCode() == "ValidationException" || api.ErrorCode() == "AccessDeniedException")
}

// refusal is the condition that failed, with the row that failed it.
func refusal(err error) (*types.ConditionalCheckFailedException, bool) {
	var failed *types.ConditionalCheckFailedException
	return failed, errors.As(err, &failed)
}
