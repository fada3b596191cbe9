package expr

import "fmt"

// Error is an expression that the service refuses with a ValidationException.
// Message is the service's. Do not retry.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// Faults of an update that show only with an item in hand.
var (
	errPathInvalid = &Error{"The document path provided in the update expression is invalid for update"}
	errOperandType = &Error{"An operand in the update expression has an incorrect data type"}
	errMissing     = &Error{"The provided expression refers to an attribute that does not exist in the item"}
)

func faultf(format string, args ...any) *Error { return &Error{fmt.Sprintf(format, args...)} }

func incorrectType(operator string, kind fmt.Stringer) *Error {
	return faultf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", operator, kind)
}

func incorrectCount(operator string, n int) *Error {
	return faultf("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", operator, n)
}

func requiresPath(function string) *Error {
	return faultf("Operator or function requires a document path; operator or function: %s", function)
}

func misused(function string) *Error {
	return faultf("The function is not allowed to be used this way in an expression; function: %s", function)
}
