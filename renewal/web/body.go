package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// readJSON reads one strict document: unknown fields, wrong types and anything
// after it are refused, by name where there is one.
func readJSON(r *http.Request, into any) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != "application/json" {
		return errMediaType
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return badBody(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return invalid("body", "holds more than one document")
	}
	return nil
}

func badBody(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errTooLarge
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid(orBody(wrong.Field), "is not a "+wrong.Type.String())
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return invalid(strings.Trim(name, `"`), "is unknown")
	}
	return invalid("body", "is not a JSON document")
}

func orBody(field string) string {
	if field == "" {
		return "body"
	}
	return field
}
