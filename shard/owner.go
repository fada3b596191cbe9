package shard

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrOwner is wrapped by every error about an owner that cannot be keyed.
// Do not retry; the id is refused where it enters.
var ErrOwner = errors.New("shard: owner cannot be keyed")

// ErrSortKey is wrapped by every error about a sort key that cannot be read
// back. Do not retry; the row was not written by these rules.
var ErrSortKey = errors.New("shard: malformed sort key")

// OwnerClass says why an owner cannot be keyed.
type OwnerClass string

// The classes of owners that cannot be keyed.
const (
	OwnerEmpty     OwnerClass = "empty"
	OwnerSeparator OwnerClass = "contains the separator"
	OwnerTooLong   OwnerClass = "too long for a sort key"
	OwnerNotUTF8   OwnerClass = "not UTF-8"
)

// OwnerError is an owner that cannot be keyed. It wraps ErrOwner.
type OwnerError struct {
	Owner string
	Class OwnerClass
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("%v: %.64q is %s", ErrOwner, e.Owner, e.describe())
}

func (e *OwnerError) describe() string {
	switch e.Class {
	case OwnerSeparator:
		return "ambiguous (it " + string(e.Class) + ")"
	default:
		return string(e.Class)
	}
}

func (e *OwnerError) Unwrap() error { return ErrOwner }

// timeLayout is RFC 3339 in UTC with a fixed width, so that sort keys order as
// their times do.
const timeLayout = "2006-01-02T15:04:05.000Z"

// CheckOwner says whether owner can stand before separator in a sort key.
// The error is an *OwnerError.
func CheckOwner(owner, separator string) error {
	if separator == "" {
		separator = DefaultSeparator
	}
	class := OwnerClass("")
	switch {
	case owner == "":
		class = OwnerEmpty
	case !utf8.ValidString(owner):
		class = OwnerNotUTF8
	case strings.Contains(owner, separator):
		class = OwnerSeparator
	case len(owner)+len(separator)+len(timeLayout) > SortKeyBytesMax:
		class = OwnerTooLong
	default:
		return nil
	}
	return &OwnerError{Owner: owner, Class: class}
}

// CheckOwner says whether owner can be keyed under the layout's separator.
func (l Layout) CheckOwner(owner string) error { return CheckOwner(owner, l.Separator) }

// OwnerPrefix is what every sort key of owner begins with: "{owner}#".
func (l Layout) OwnerPrefix(owner string) string { return owner + l.separator() }

// OwnerPrefix is what every sort key of owner begins with: "{owner}#".
func OwnerPrefix(owner string) string { return Layout{}.OwnerPrefix(owner) }

// SortKeyOf spells the sort key of a row of owner: "{owner}#{openedAt}", the
// time in UTC with milliseconds. The error is an *OwnerError, or wraps
// ErrSortKey where the year does not have four digits.
func (l Layout) SortKeyOf(owner string, openedAt time.Time) (string, error) {
	if err := l.CheckOwner(owner); err != nil {
		return "", err
	}
	utc := openedAt.UTC()
	if utc.Year() < 0 || utc.Year() > 9999 {
		return "", fmt.Errorf("%w: year %d has no fixed width", ErrSortKey, utc.Year())
	}
	return l.OwnerPrefix(owner) + utc.Format(timeLayout), nil
}

// SortKey spells the sort key of a row of owner with the default separator.
func SortKey(owner string, openedAt time.Time) (string, error) {
	return Layout{}.SortKeyOf(owner, openedAt)
}

// ParseSortKey reads a sort key back. The last separator decides.
// The error wraps ErrSortKey.
func (l Layout) ParseSortKey(key string) (owner string, openedAt time.Time, err error) {
	at := strings.LastIndex(key, l.separator())
	if at < 0 {
		return "", time.Time{}, fmt.Errorf("%w: %.64q has no separator %q", ErrSortKey, key, l.separator())
	}
	owner, text := key[:at], key[at+len(l.separator()):]
	openedAt, err = time.Parse(timeLayout, text)
	if err != nil || len(text) != len(timeLayout) {
		return "", time.Time{}, fmt.Errorf("%w: %.64q does not end in a time like %s", ErrSortKey, key, timeLayout)
	}
	if err := l.CheckOwner(owner); err != nil {
		return "", time.Time{}, fmt.Errorf("%w: %.64q: %w", ErrSortKey, key, err)
	}
	return owner, openedAt, nil
}

// ParseSortKey reads a sort key with the default separator back.
func ParseSortKey(key string) (owner string, openedAt time.Time, err error) {
	return Layout{}.ParseSortKey(key)
}
