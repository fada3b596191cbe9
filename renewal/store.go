package renewal

import "context"

// Store keeps sagas. Lists come from an index: they are at most one index lag
// old, and a row in them is a candidate. Saga, Transition and Archive look at
// the row itself.
//
// Errors wrap ErrNotFound, ErrConflict, ErrIllegalMove, ErrInvalid or
// ErrUnavailable; anything else is a fault of the program or of the table.
type Store interface {
	// Saga reads one saga with its timeline, strongly.
	Saga(ctx context.Context, id string) (Saga, error)
	// SagaByLease reads the newest saga of a lease with its timeline, strongly.
	SagaByLease(ctx context.Context, leaseID string) (Saga, error)

	SagasByPerson(ctx context.Context, personID string) ([]Saga, error)
	SagasByPersons(ctx context.Context, personIDs []string) ([]Saga, error)
	OpenSagas(ctx context.Context) ([]Saga, error) // not archived
	AllSagas(ctx context.Context) ([]Saga, error)

	// Open writes a new saga, or answers with the one that has this id. The id
	// follows from lease and term where it is not given.
	Open(ctx context.Context, s Saga) (Saga, error)
	// Transition makes a change in one conditional write and answers with the
	// saga. A change that was made before, known by its Op, is answered as done.
	Transition(ctx context.Context, id string, c Change) (Saga, error)
	// Archive takes an ended saga off the list, once.
	Archive(ctx context.Context, id string) (Saga, error)
}
