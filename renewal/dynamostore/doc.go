// Package dynamostore knows how renewal sagas stand in one DynamoDB table and on
// its saga index, under a routing that may be on the move.
//
// # Items
//
//	PK=RSAGA#{id}      SK=META     the saga: entityType=RenewalSaga, personId, the
//	                               index keys, the fields, the timeline
//	PK=LEASE#{leaseId} SK=RENEWAL  sagaId of the lease's newest saga; no index keys
//
// A saga is found by its lease with two strongly consistent GetItems on the base
// table, one read unit each, and no read of the index: the detail page does not
// depend on the key that may be hot. Rows that an older program wrote have no
// pointer item; SagaByLease answers ErrNotFound for them and the pages look for
// them in the list that they hold anyway.
//
// # Keys
//
// Only [Store.Open] stamps an index key, through the [Routing], which confirms
// the stamp before the saga is acknowledged. Transitions update named attributes
// and never an index key, so they may run beside a move of the same row.
//
// # Conditions
//
// A transition reads the row, lets package renewal decide, and writes under the
// condition that the row still has the version that was read. A failed condition
// brings the row as it is: it either shows the change's own operation id, and
// the change was made by an attempt whose answer was lost, or the decision is
// taken again on it.
package dynamostore
