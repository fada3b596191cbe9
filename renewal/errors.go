package renewal

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotFound: there is no such saga. Do not retry.
	ErrNotFound = errors.New("renewal: not found")

	// ErrConflict: somebody else changed the saga first, or the operation id was
	// used for something else. Do not retry; look at the saga again.
	ErrConflict = errors.New("renewal: changed by another hand")

	// ErrIllegalMove: the saga's state does not allow the move. Do not retry.
	ErrIllegalMove = errors.New("renewal: illegal move")

	// ErrInvalid: what came in can never be right. Do not retry; correct it.
	ErrInvalid = errors.New("renewal: invalid")

	// ErrUnavailable: the store is throttled, away or does not know how to route.
	// Retry with the same operation id; the work is done at most once.
	ErrUnavailable = errors.New("renewal: store unavailable")
)

// MoveError is a move that the table of legal moves does not have. It wraps
// ErrIllegalMove.
type MoveError struct {
	From, To State
	Archived bool
}

func (e *MoveError) Error() string {
	if e.Archived {
		return fmt.Sprintf("%v: the renewal is archived", ErrIllegalMove)
	}
	return fmt.Sprintf("%v: from %q to %q", ErrIllegalMove, e.From, e.To)
}

func (e *MoveError) Unwrap() error { return ErrIllegalMove }

// ConflictError is a change that was decided on something that is no longer so.
// Saga is what the store holds now. It wraps ErrConflict.
type ConflictError struct {
	Saga Saga
	Why  string
}

func (e *ConflictError) Error() string { return fmt.Sprintf("%v: %s", ErrConflict, e.Why) }

func (e *ConflictError) Unwrap() error { return ErrConflict }

// FieldFault is one field that cannot be used.
type FieldFault struct {
	Field string `json:"field"`
	Why   string `json:"why"`
}

// InvalidError lists every field at fault. It wraps ErrInvalid.
type InvalidError struct{ Faults []FieldFault }

func (e *InvalidError) Error() string {
	words := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		words[i] = f.Field + " " + f.Why
	}
	return ErrInvalid.Error() + ": " + strings.Join(words, "; ")
}

func (e *InvalidError) Unwrap() error { return ErrInvalid }
