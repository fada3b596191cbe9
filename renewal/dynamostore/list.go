package dynamostore

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/renewal"
)

// SagasByPerson lists a person's sagas, the oldest first: one query on one shard.
func (s *Store) SagasByPerson(ctx context.Context, personID string) ([]renewal.Saga, error) {
	if err := renewal.CheckID("personId", personID); err != nil {
		return nil, err
	}
	q, tell := s.query(sagas)
	defer tell()
	return collect("list sagas of person "+personID, s.reader.Owner(ctx, personID, q))
}

// SagasByPersons lists the sagas of several persons in one order. Persons that
// share a shard share requests where that is cheaper.
func (s *Store) SagasByPersons(ctx context.Context, personIDs []string) ([]renewal.Saga, error) {
	for _, id := range personIDs {
		if err := renewal.CheckID("personId", id); err != nil {
			return nil, err
		}
	}
	q, tell := s.query(sagas)
	defer tell()
	return collect("list sagas of several persons", s.reader.Owners(ctx, personIDs, q))
}

// OpenSagas lists every saga that is not archived.
func (s *Store) OpenSagas(ctx context.Context) ([]renewal.Saga, error) {
	q, tell := s.query(openSagas)
	defer tell()
	return collect("list open sagas", s.reader.All(ctx, q))
}

// AllSagas lists every saga, the archived ones too.
func (s *Store) AllSagas(ctx context.Context) ([]renewal.Saga, error) {
	q, tell := s.query(sagas)
	defer tell()
	return collect("list all sagas", s.reader.All(ctx, q))
}

// sagas leaves out rows of another kind that share the index.
var sagas = fanout.Filter{
	Expression: "#entity = :saga",
	Names:      map[string]string{"#entity": entityAttribute},
	Values:     fanout.Item{":saga": text(sagaEntity)},
}

// openSagas takes rows without the flag as open: an older program may not have
// written it.
var openSagas = fanout.Filter{
	Expression: "#entity = :saga AND (attribute_not_exists(#archived) OR #archived = :no)",
	Names:      map[string]string{"#entity": entityAttribute, "#archived": "archived"},
	Values:     fanout.Item{":saga": text(sagaEntity), ":no": &types.AttributeValueMemberBOOL{Value: false}},
}

// query is a query that tells, when done, what it spent on each key.
func (s *Store) query(filter fanout.Filter) (fanout.Query, func()) {
	if s.spent == nil {
		return fanout.Query{Filter: filter}, func() {}
	}
	report := &fanout.Report{}
	return fanout.Query{Filter: filter, Report: report}, func() {
		for at, cost := range report.Shards() {
			s.spent(at.Key, cost.Units, 0)
		}
	}
}

func collect(what string, rows iter.Seq2[fanout.Item, error]) ([]renewal.Saga, error) {
	var found []renewal.Saga
	for item, err := range rows {
		if err != nil {
			return nil, fault(what, err)
		}
		saga, err := decode(item)
		if err != nil {
			return nil, fault(what, err)
		}
		found = append(found, saga)
	}
	return found, nil
}
