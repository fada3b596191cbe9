package emulator

import (
	"errors"
	"net/http"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Error codes, as the part of __type behind the hash sign.
const (
	CodeValidation            = "ValidationException"
	CodeResourceNotFound      = "ResourceNotFoundException"
	CodeResourceInUse         = "ResourceInUseException"
	CodeTableNotFound         = "TableNotFoundException"
	CodeLimitExceeded         = "LimitExceededException"
	CodeConditionalCheck      = "ConditionalCheckFailedException"
	CodeTransactionCanceled   = "TransactionCanceledException"
	CodeTransactionInProgress = "TransactionInProgressException"
	CodeTransactionConflict   = "TransactionConflictException"
	CodeIdempotentMismatch    = "IdempotentParameterMismatchException"
	CodeProvisionedThroughput = "ProvisionedThroughputExceededException"
	CodeThrottling            = "ThrottlingException"
	CodeRequestLimit          = "RequestLimitExceeded"
	CodeItemCollectionSize    = "ItemCollectionSizeLimitExceededException"
	CodeAccessDenied          = "AccessDeniedException"
	CodeInternal              = "InternalServerError"
	CodeUnknownOperation      = "UnknownOperationException"
	CodeSerialization         = "SerializationException"
)

// ErrDropped: the request was committed, and a scripted fault swallowed the
// answer. The wire closes the connection without a response. The caller cannot
// know the outcome; a retry must be harmless.
var ErrDropped = errors.New("emulator: answer dropped after commit")

// Error is an answer of the service that is not a success.
type Error struct {
	Code    string
	Message string
	Status  int // HTTP status; 400 unless the service is at fault

	// Reasons says which gate refused, on throttles of all three codes.
	Reasons []ThrottlingReason

	// Cancellation has one entry per transaction item, in request order, when
	// Code is CodeTransactionCanceled.
	Cancellation []CancellationReason

	// Item is the existing item, when a failed condition was asked for ALL_OLD.
	// The zero Item means none.
	Item attr.Item

	early bool // fails a transaction as a whole
}

// ThrottlingReason names the gate and the resource that refused a request.
type ThrottlingReason struct {
	Reason   string // one of 16, such as IndexWriteKeyRangeThroughputExceeded
	Resource string // ARN of the table or index
}

// CancellationReason says why one item of a transaction stood in its way. Code is
// "None" and Message empty for an item that did not.
type CancellationReason struct {
	Code    string
	Message string
	Item    attr.Item // zero unless ALL_OLD was asked for
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func newError(code, message string) *Error {
	return &Error{Code: code, Message: message, Status: http.StatusBadRequest}
}

func invalid(message string) *Error { return newError(CodeValidation, message) }
