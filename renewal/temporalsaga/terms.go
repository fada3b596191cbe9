package temporalsaga

import "time"

// Terms are the times and limits of one renewal. They travel in its input, so a
// changed default never changes a renewal that runs. The zero value is what we
// use in production.
type Terms struct {
	ReplyWithin   time.Duration `json:"replyWithin"`   // an offer stands this long; 0 means 21 days
	RemindBefore  time.Duration `json:"remindBefore"`  // reminder before the offer ends; 0 means 7 days
	SignWithin    time.Duration `json:"signWithin"`    // an accepted offer waits this long for the signature; 0 means 14 days
	ArchiveAfter  time.Duration `json:"archiveAfter"`  // a closed renewal stays on the list; 0 means 30 days
	Attempt       time.Duration `json:"attempt"`       // one attempt of an activity; 0 means 30 s
	RetryMin      time.Duration `json:"retryMin"`      // first pause after a failed attempt; 0 means 1 s
	RetryMax      time.Duration `json:"retryMax"`      // longest pause between attempts; 0 means 1 min
	QuoteAttempts int           `json:"quoteAttempts"` // tries to prepare an offer before a person is asked; 0 means 5
	RequestsMax   int           `json:"requestsMax"`   // requests that one run handles before it continues as new; 0 means 500
}

func (t Terms) withDefaults() Terms {
	const day = 24 * time.Hour
	fill(&t.ReplyWithin, 21*day)
	fill(&t.RemindBefore, 7*day)
	fill(&t.SignWithin, 14*day)
	fill(&t.ArchiveAfter, 30*day)
	fill(&t.Attempt, 30*time.Second)
	fill(&t.RetryMin, time.Second)
	fill(&t.RetryMax, time.Minute)
	fill(&t.QuoteAttempts, 5)
	fill(&t.RequestsMax, 500)
	return t
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
