package temporalsaga

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/hotsplit/hotsplit/renewal"
)

const (
	termMonthMax = 120
	idShownMax   = 40 // bytes of an id in an error message
)

// Lease is what the walker finds and what a renewal is about.
type Lease struct {
	ID         string    `json:"id"`
	PersonID   string    `json:"personId"`
	PersonName string    `json:"personName,omitempty"`
	PropertyID string    `json:"propertyId,omitempty"`
	Unit       string    `json:"unit,omitempty"`
	Ends       time.Time `json:"ends"` // last day of the present term, UTC
	RentCents  int64     `json:"rentCents"`
	TermMonths int       `json:"termMonths"` // length of the next term
}

// Term names the term that a renewal is for: the day on which it ends.
func (l Lease) Term() string { return l.Ends.UTC().Format(time.DateOnly) }

// WorkflowID is the one workflow that may renew this term of this lease. It is
// the same wherever it is computed, so a second start is a duplicate and no
// second renewal.
func (l Lease) WorkflowID() string { return "renewal/" + l.ID + "/" + l.Term() }

// SagaID is the saga that the workflow opens, as deterministic as WorkflowID.
func (l Lease) SagaID() string { return renewal.SagaID(l.ID, l.Ends) }

// NextEnd is the last day of the next term. A term that ends with a month goes
// on ending with a month; the 31st never becomes the 3rd of the month after.
func (l Lease) NextEnd() time.Time {
	year, month, day := l.Ends.UTC().Date()
	next := month + time.Month(l.TermMonths)
	if lastDay(year, month) == day {
		day = 31
	}
	return time.Date(year, next, min(day, lastDay(year, next)), 0, 0, 0, 0, time.UTC)
}

func lastDay(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// Validate reports every field at fault at once, as an *InputError.
func (l Lease) Validate() error {
	var faults []string
	faults = appendID(faults, "id", l.ID)
	faults = appendID(faults, "personId", l.PersonID)
	if l.PropertyID != "" {
		faults = appendID(faults, "propertyId", l.PropertyID)
	}
	faults = appendText(faults, "personName", l.PersonName, renewal.NameBytesMax)
	faults = appendText(faults, "unit", l.Unit, renewal.IDBytesMax)
	if l.Ends.IsZero() {
		faults = append(faults, "ends is missing")
	}
	if l.RentCents < 0 {
		faults = append(faults, "rentCents is negative")
	}
	if l.TermMonths < 1 || l.TermMonths > termMonthMax {
		faults = append(faults, "termMonths is not between 1 and 120")
	}
	return inputError("lease "+cut(l.ID, idShownMax), faults)
}

// appendID adds what is wrong with an id that becomes part of keys and of
// workflow ids.
func appendID(faults []string, field, id string) []string {
	var invalid *renewal.InvalidError
	if !errors.As(renewal.CheckID(field, id), &invalid) {
		return faults
	}
	for _, f := range invalid.Faults {
		faults = append(faults, f.Field+" "+f.Why)
	}
	return faults
}

func appendText(faults []string, field, text string, bytesMax int) []string {
	if len(text) > bytesMax {
		return append(faults, field+" is too long")
	}
	if strings.ToValidUTF8(text, "") != text || strings.ContainsFunc(text, hidden) {
		return append(faults, field+" holds bytes that are not text")
	}
	return faults
}

func hidden(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

// cut bounds a text in bytes without splitting a character.
func cut(text string, bytesMax int) string {
	if len(text) <= bytesMax {
		return text
	}
	return strings.ToValidUTF8(text[:bytesMax], "") + "…"
}
