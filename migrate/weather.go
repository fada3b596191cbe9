package migrate

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
)

// errConflict says that a transaction met another on one of its items. Again.
var errConflict = errors.New("migrate: transaction conflict")

// errThrottled says that a transaction was refused for want of capacity.
var errThrottled = errors.New("migrate: throttled")

// passing says that the same request may succeed later: the service or the way
// to it failed, not the request.
func passing(err error) bool {
	if errors.Is(err, errConflict) || errors.Is(err, errUnprocessed) || errors.Is(err, errSetBehind) || throttled(err) {
		return true
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		if api.ErrorCode() == "TransactionConflictException" || api.ErrorCode() == "TransactionInProgressException" {
			return true
		}
		return api.ErrorFault() == smithy.FaultServer
	}
	var op *smithy.OperationError
	return errors.As(err, &op)
}

// refused says that the service finds fault with the request itself, e.g. that
// the rows of a transaction are too large together.
func refused(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "ValidationException"
}

// throttled says that the service wants fewer requests.
func throttled(err error) bool {
	if errors.Is(err, errThrottled) {
		return true
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	_, known := retry.DefaultThrottleErrorCodes[api.ErrorCode()]
	return known
}
