package emulator

import "strings"

// reasons collects why the items of a transaction fail.
type reasons struct {
	list   []CancellationReason
	failed bool
}

func newReasons(n int) *reasons {
	r := &reasons{list: make([]CancellationReason, n)}
	for i := range r.list {
		r.list[i].Code = "None"
	}
	return r
}

// note files the error of item i. It returns the error when it is one that fails
// the request as a whole.
func (r *reasons) note(i int, err error) error {
	if err == nil {
		return nil
	}
	e, ok := err.(*Error)
	if !ok || e.early {
		return err
	}
	switch e.Code {
	case CodeConditionalCheck:
		r.set(i, "ConditionalCheckFailed", e)
	case CodeValidation:
		r.set(i, "ValidationError", e)
	default:
		return err
	}
	return nil
}

// noteFirst is note for the checks that look for no second fault.
func (r *reasons) noteFirst(i int, err error) error {
	if e, ok := err.(*Error); ok && r.failed && e.Code == CodeValidation && !e.early {
		return nil
	}
	return r.note(i, err)
}

func (r *reasons) set(i int, code string, e *Error) {
	r.failed = true
	r.list[i] = CancellationReason{Code: code, Message: e.Message, Item: e.Item}
}

// throttled files a throttle of item i.
func (r *reasons) throttled(i int, e *Error) {
	code := "ThrottlingError"
	if e.Code == CodeProvisionedThroughput {
		code = "ProvisionedThroughputExceeded"
	}
	r.set(i, code, e)
}

// err is the cancelled transaction, or nil if nothing failed.
func (r *reasons) err() error {
	if !r.failed {
		return nil
	}
	codes := make([]string, len(r.list))
	for i := range r.list {
		codes[i] = r.list[i].Code
	}
	e := newError(CodeTransactionCanceled,
		"Transaction cancelled, please refer cancellation reasons for specific reasons ["+strings.Join(codes, ", ")+"]")
	e.Cancellation = r.list
	return e
}

// early marks an error that fails a transaction as a whole, in place of
// cancelling it for the item that it is about.
func early(err error) error {
	if e, ok := err.(*Error); ok {
		e.early = true
	}
	return err
}
