package temporalsaga

import (
	"encoding/hex"
	"hash/fnv"
	"strconv"

	"github.com/hotsplit/hotsplit/renewal"
)

// Request asks a running renewal for a move: a button that the property manager
// pressed, a message from the tenant, a signature that arrived. Its id makes it
// idempotent: the same request again gets the first answer, whether it comes
// while the first is being handled, afterwards, or to the run after that.
type Request struct {
	ID        string        `json:"id"`
	By        string        `json:"by,omitempty"`        // who asks, for the timeline
	Kind      string        `json:"kind,omitempty"`      // what it was: "decision", "message", "notice", "signal", "voice", "sweep"
	To        renewal.State `json:"to,omitempty"`        // the state asked for; "" notes the text and moves nothing
	From      renewal.State `json:"from,omitempty"`      // the state that the asker saw; "" means any
	Text      string        `json:"text,omitempty"`      // what was said
	RentCents int64         `json:"rentCents,omitempty"` // a new rent, with To "prepared"
}

// Answer is what came of a request.
type Answer struct {
	Saga Snapshot `json:"saga"`
	Body string   `json:"body"` // digest of the request that was answered
}

// Validate reports every field at fault at once, as an *InputError. Clients and
// the update's validator ask it, never the workflow itself: what is valid may
// change with a release.
func (q Request) Validate() error {
	var faults []string
	faults = appendID(faults, "id", q.ID)
	faults = appendText(faults, "by", q.By, renewal.IDBytesMax)
	faults = appendText(faults, "kind", q.Kind, renewal.IDBytesMax)
	if q.From != "" && !q.From.Known() {
		faults = append(faults, "from is not a state")
	}
	if q.To != "" && !q.To.Known() {
		faults = append(faults, "to is not a state")
	}
	if q.To == "" && q.Text == "" {
		faults = append(faults, "to and text are missing")
	}
	faults = appendText(faults, "text", q.Text, renewal.TextBytesMax)
	if q.RentCents < 0 {
		faults = append(faults, "rentCents is negative")
	}
	return inputError("request "+cut(q.ID, idShownMax), faults)
}

// body is a digest of all that was asked, so that an id that is used again for
// something else is found out. Each part is preceded by its length, so no two
// requests read the same.
func (q Request) body() string {
	digest := fnv.New128a()
	for _, part := range []string{q.By, q.Kind, string(q.To), string(q.From), q.Text, strconv.FormatInt(q.RentCents, 10)} {
		digest.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(digest.Sum(nil))
}
