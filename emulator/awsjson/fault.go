package awsjson

import (
	"errors"
	"net/http"

	"github.com/hotsplit/hotsplit/emulator"
)

// Namespaces of __type.
const (
	namespaceService  = "com.amazon.coral.service#"
	namespaceValidate = "com.amazon.coral.validate#"
	namespaceDynamoDB = "com.amazonaws.dynamodb.v20120810#"
)

// protocolError is an answer to a request that never reached an operation.
type protocolError struct{ code, message string }

func (e *protocolError) Error() string { return e.code + ": " + e.message }

// writeFault writes the body of an error and says its status. It leaves errors
// that have no answer, such as a dropped one, to the caller.
func (w *writer) writeFault(err error) (status int, answered bool) {
	if wrong, ok := errors.AsType[*serialization](err); ok {
		w.faultBody(namespaceService+emulator.CodeSerialization, "Message", wrong.message)
		return http.StatusBadRequest, true
	}
	if wrong, ok := errors.AsType[*protocolError](err); ok {
		w.faultBody(namespaceService+wrong.code, "message", wrong.message)
		return http.StatusBadRequest, true
	}
	if refused, ok := errors.AsType[*emulator.Error](err); ok {
		w.serviceFault(refused)
		return refused.Status, true
	}
	return 0, false
}

func (w *writer) faultBody(code, member, message string) {
	w.open('{')
	w.string("__type", code)
	w.text(member, message)
	w.close('}')
}

func (w *writer) serviceFault(e *emulator.Error) {
	w.open('{')
	w.string("__type", namespaceOf(e.Code)+e.Code)
	w.string(messageMember(e.Code), e.Message)
	if len(e.Reasons) > 0 {
		list(w, reasonsMember(e.Code), e.Reasons, func(w *writer, r *emulator.ThrottlingReason) {
			w.string("reason", r.Reason)
			w.string("resource", r.Resource)
		})
	}
	if e.Cancellation != nil {
		list(w, "CancellationReasons", e.Cancellation, func(w *writer, r *emulator.CancellationReason) {
			w.string("Code", r.Code)
			w.text("Message", r.Message)
			w.item("Item", r.Item)
		})
	}
	w.item("Item", e.Item)
	w.close('}')
}

func namespaceOf(code string) string {
	switch code {
	case emulator.CodeValidation:
		return namespaceValidate
	case emulator.CodeSerialization, emulator.CodeUnknownOperation, emulator.CodeAccessDenied:
		return namespaceService
	}
	return namespaceDynamoDB
}

// messageMember is "message" but for three shapes of the service's model.
func messageMember(code string) string {
	switch code {
	case emulator.CodeTransactionCanceled, emulator.CodeTransactionInProgress, emulator.CodeIdempotentMismatch:
		return "Message"
	}
	return "message"
}

// reasonsMember has another case in one of the three throttles. A client that
// finds the wrong one silently decodes no reasons.
func reasonsMember(code string) string {
	if code == emulator.CodeThrottling {
		return "throttlingReasons"
	}
	return "ThrottlingReasons"
}
