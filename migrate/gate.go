package migrate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hotsplit/hotsplit/shard"
)

// ErrRefused is wrapped by every step that a gate refuses. Do what the error
// says, then repeat the step.
var ErrRefused = errors.New("migrate: refused")

// ErrDiverged says that verification finished and the index does not show what
// the base table holds. Do not retry; read the findings, heal or roll back.
var ErrDiverged = errors.New("migrate: index and base table disagree")

// ErrUnverified says that verification did not finish, so nothing is known.
// Retry.
var ErrUnverified = errors.New("migrate: verification did not finish")

// ErrReadOnly says that a write was asked of a dry run. It is a fault of ours.
var ErrReadOnly = errors.New("migrate: a dry run does not write")

// GateError says which condition keeps a move from going on. It wraps ErrRefused.
type GateError struct {
	Gate  string // short name of the condition, e.g. "members"
	From  shard.Phase
	To    shard.Phase
	Why   string // what is so, with figures
	Since string // since when, where that is known
	Do    string // what the operator does about it
}

func (e *GateError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v by gate %q: %s", ErrRefused, e.Gate, e.Why)
	if e.Since != "" {
		fmt.Fprintf(&b, " (since %s)", e.Since)
	}
	if e.To != "" {
		fmt.Fprintf(&b, "; %s -> %s", e.From, e.To)
	}
	if e.Do != "" {
		fmt.Fprintf(&b, "; do: %s", e.Do)
	}
	return b.String()
}

func (e *GateError) Unwrap() error { return ErrRefused }

// QuestionKind says what an operator is asked.
type QuestionKind string

// The questions that only a person can answer.
const (
	// QuestionAlone: no process outside the member list reads or writes the rows.
	QuestionAlone QuestionKind = "alone"
	// QuestionWait: no member reports, so only the operator knows that every
	// process goes by the phase.
	QuestionWait QuestionKind = "wait"
)

// Question is asked where no tool can know the answer.
type Question struct {
	Kind    QuestionKind
	Phase   shard.Phase
	Text    string
	Members []Member
}
