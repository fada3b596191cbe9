package temporalsaga

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrInput: what came in can never be right. Do not retry; correct it.
	ErrInput = errors.New("temporalsaga: bad input")

	// ErrOtherBody: the id of this request was used before for another request.
	// Do not retry; use a new id.
	ErrOtherBody = errors.New("temporalsaga: request id was used for another request")

	// ErrRefused: the renewal's state does not allow the move. Do not retry;
	// look at the renewal again.
	ErrRefused = errors.New("temporalsaga: renewal does not allow this move")

	// ErrNotRunning: no workflow runs for this renewal. Start it, or change the
	// saga in the store.
	ErrNotRunning = errors.New("temporalsaga: no workflow runs for this renewal")

	// ErrUnavailable: Temporal, or the worker behind it, did not answer in time.
	// Retry with the same id; the request is done at most once.
	ErrUnavailable = errors.New("temporalsaga: no answer from the workflow")
)

// Types of the application errors that an activity or an update answers with.
// They are part of recorded histories: never rename one.
const (
	typeInput       = "BadInput"
	typeRefused     = "Refused"
	typeUnavailable = "Unavailable"

	// typeClosed is the server's own: the workflow closed before it answered.
	typeClosed = "AcceptedUpdateCompletedWorkflow"
)

// InputError says which fields are at fault. It is an ErrInput.
type InputError struct {
	Subject string
	Faults  []string
}

func (e *InputError) Error() string {
	return fmt.Sprintf("%s: %s", e.Subject, strings.Join(e.Faults, ", "))
}

// Is lets errors.Is find ErrInput.
func (e *InputError) Is(target error) bool { return target == ErrInput }

func inputError(subject string, faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return &InputError{Subject: subject, Faults: faults}
}
