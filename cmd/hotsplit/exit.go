package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// The exit codes of the tool. Scripts depend on them.
const (
	exitDone        = 0
	exitWrong       = 1 // proved wrong, or refused by a gate
	exitUsage       = 2 // the command line or its input is wrong
	exitUnknown     = 3 // could not find out
	exitInterrupted = 130
)

// exitError is an error that chose its exit code. A nil err exits without a
// word, for verbs that have said all there is to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// wrong says that something was proved wrong or that a gate refused. Exit 1.
func wrong(err error) error { return &exitError{exitWrong, err} }

// badInput says that a file or a flag's value cannot be used. Exit 2.
func badInput(err error) error { return &exitError{exitUsage, err} }

// unknown says that the answer could not be found out. Exit 3.
func unknown(err error) error { return &exitError{exitUnknown, err} }

// usageError is badInput that points at the command's help.
func usageError(cmd *cobra.Command, err error) error {
	return badInput(fmt.Errorf("%w\nSee '%s --help'", err, cmd.CommandPath()))
}

// usageArgs makes a check of positional arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError(cmd, err)
		}
		return nil
	}
}

// exitCode prints err once and turns it into the exit code. An error that chose
// no code could not find out: the service or the network stood in the way.
func exitCode(ctx context.Context, root *cobra.Command, err error, stderr io.Writer) int {
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, "hotsplit: interrupted")
		return exitInterrupted
	}
	code := exitUnknown
	if chosen, ok := errors.AsType[*exitError](err); ok {
		code = chosen.code
		if chosen.err == nil {
			return code
		}
	}
	fmt.Fprintf(stderr, "%s: %v\n", root.Name(), err)
	return code
}
