package dynamostore

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/renewal"
)

// Key attributes and values of the items; see the package comment.
const (
	partitionAttribute = "PK"
	sortAttribute      = "SK"
	entityAttribute    = "entityType"
	ownerAttribute     = "personId"

	sagaPrefix = "RSAGA#"
	sagaSort   = "META"
	sagaEntity = "RenewalSaga"

	leasePrefix   = "LEASE#"
	pointerSort   = "RENEWAL"
	pointerEntity = "RenewalPointer"
)

// row is a saga's item without its keys.
type row struct {
	EntityType string `dynamodbav:"entityType"`
	ID         string `dynamodbav:"id"`
	PersonID   string `dynamodbav:"personId"`
	LeaseID    string `dynamodbav:"leaseId"`
	OpenedAt   string `dynamodbav:"openedAt"`
	PersonName string `dynamodbav:"personName,omitempty"`
	PropertyID string `dynamodbav:"propertyId,omitempty"`
	Unit       string `dynamodbav:"unit,omitempty"`
	LeaseEnd   string `dynamodbav:"leaseEnd"`
	changing
}

// changing is what a transition may write.
type changing struct {
	State        string     `dynamodbav:"state"`
	StateSince   string     `dynamodbav:"stateSince"`
	UpdatedAt    string     `dynamodbav:"updatedAt"`
	Version      int64      `dynamodbav:"version"`
	RentCents    int64      `dynamodbav:"rentCents"`
	OfferExpires string     `dynamodbav:"offerExpires"`
	Attempts     int        `dynamodbav:"attempts"`
	LastError    string     `dynamodbav:"lastError"`
	Archived     bool       `dynamodbav:"archived"`
	Timeline     []eventRow `dynamodbav:"timeline"`
}

type eventRow struct {
	Version int64  `dynamodbav:"v"`
	At      string `dynamodbav:"at"`
	Op      string `dynamodbav:"op"`
	From    string `dynamodbav:"from,omitempty"`
	To      string `dynamodbav:"to,omitempty"`
	By      string `dynamodbav:"by,omitempty"`
	Kind    string `dynamodbav:"kind,omitempty"`
	Text    string `dynamodbav:"text,omitempty"`
	Body    string `dynamodbav:"body,omitempty"`
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

func sagaKey(id string) fanout.Item {
	return fanout.Item{partitionAttribute: text(sagaPrefix + id), sortAttribute: text(sagaSort)}
}

func pointerKey(leaseID string) fanout.Item {
	return fanout.Item{partitionAttribute: text(leasePrefix + leaseID), sortAttribute: text(pointerSort)}
}

func textOf(value types.AttributeValue) string {
	if s, ok := value.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// momentLayout has a fixed width, so that texts order as their times do.
const momentLayout = "2006-01-02T15:04:05.000Z"

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(momentLayout)
}

// momentOf reads a time as we, or an older program, wrote it. A foreign text is
// the zero time: one bad field does not take a renewal off the list.
func momentOf(value string) time.Time {
	for _, layout := range []string{momentLayout, time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, value); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

func changingOf(s renewal.Saga) changing {
	events := make([]eventRow, len(s.Timeline))
	for i, e := range s.Timeline {
		events[i] = eventRow{
			Version: e.Version, At: moment(e.At), Op: e.Op, From: string(e.From), To: string(e.To),
			By: e.By, Kind: e.Kind, Text: e.Text, Body: e.Body,
		}
	}
	return changing{
		State: string(s.State), StateSince: moment(s.StateSince), UpdatedAt: moment(s.UpdatedAt), Version: s.Version,
		RentCents: s.Offer.RentCents, OfferExpires: moment(s.Offer.Expires), Attempts: s.Attempts,
		LastError: s.LastError, Archived: s.Archived, Timeline: events,
	}
}

func rowOf(s renewal.Saga) row {
	return row{
		EntityType: sagaEntity, ID: s.ID, PersonID: s.PersonID, LeaseID: s.LeaseID, OpenedAt: moment(s.OpenedAt),
		PersonName: s.PersonName, PropertyID: s.PropertyID, Unit: s.Unit, LeaseEnd: s.LeaseEnd.UTC().Format(time.DateOnly),
		changing: changingOf(s),
	}
}

func (r row) saga() renewal.Saga {
	s := renewal.Saga{
		ID: r.ID, PersonID: r.PersonID, PersonName: r.PersonName, LeaseID: r.LeaseID, PropertyID: r.PropertyID, Unit: r.Unit,
		State: renewal.State(r.State), StateSince: momentOf(r.StateSince), OpenedAt: momentOf(r.OpenedAt),
		UpdatedAt: momentOf(r.UpdatedAt), Version: r.Version, LeaseEnd: momentOf(r.LeaseEnd),
		Offer:    renewal.Offer{RentCents: r.RentCents, Expires: momentOf(r.OfferExpires)},
		Attempts: r.Attempts, LastError: r.LastError, Archived: r.Archived,
	}
	for _, e := range r.Timeline {
		s.Timeline = append(s.Timeline, renewal.Event{
			Version: e.Version, At: momentOf(e.At), Op: e.Op, From: renewal.State(e.From), To: renewal.State(e.To),
			By: e.By, Kind: e.Kind, Text: e.Text, Body: e.Body,
		})
	}
	return s
}

// decode reads a saga out of its item. The id stands in the key, so a row that
// lacks the attribute is a saga too.
func decode(item fanout.Item) (renewal.Saga, error) {
	var r row
	if err := attributevalue.UnmarshalMap(item, &r); err != nil {
		return renewal.Saga{}, fmt.Errorf("decode %s: %w", textOf(item[partitionAttribute]), err)
	}
	s := r.saga()
	if id := textOf(item[partitionAttribute]); len(id) > len(sagaPrefix) && id[:len(sagaPrefix)] == sagaPrefix {
		s.ID = id[len(sagaPrefix):]
	}
	return s, nil
}

func isSaga(item fanout.Item) bool { return textOf(item[entityAttribute]) == sagaEntity }
