package emulator

import "github.com/hotsplit/hotsplit/emulator/attr"

// The members that name tables are slices in wire order, so that answers and
// first errors do not depend on map order.

// BatchGetItemInput asks for up to 100 items of several tables. RequestItems is
// nil when absent.
type BatchGetItemInput struct {
	RequestItems           []TableKeys
	ReturnConsumedCapacity string
}

// TableKeys is the part of a batch read that is about one table.
type TableKeys struct {
	TableName            string // or ARN
	Keys                 []attr.Item
	ConsistentRead       bool
	ProjectionExpression *string
	Names                map[string]string
	Legacy               Legacy
}

// BatchGetItemOutput holds the found items and the keys not processed.
type BatchGetItemOutput struct {
	Responses        []TableItems
	UnprocessedKeys  []TableKeys
	ConsumedCapacity []ConsumedCapacity
}

// TableItems are the items found in one table.
type TableItems struct {
	TableName string
	Items     []attr.Item
}

// BatchWriteItemInput asks for up to 25 puts and deletes.
type BatchWriteItemInput struct {
	RequestItems                []TableWrites
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

// TableWrites is the part of a batch write that is about one table.
type TableWrites struct {
	TableName string
	Requests  []WriteRequest
}

// WriteRequest is one put or one delete; the other is nil.
type WriteRequest struct {
	PutRequest    *PutRequest
	DeleteRequest *DeleteRequest
}

// PutRequest holds the item to put.
type PutRequest struct{ Item attr.Item }

// DeleteRequest holds the key to delete.
type DeleteRequest struct{ Key attr.Item }

// BatchWriteItemOutput holds what was not processed.
type BatchWriteItemOutput struct {
	UnprocessedItems      []TableWrites
	ItemCollectionMetrics []TableItemCollectionMetrics
	ConsumedCapacity      []ConsumedCapacity
}

// TableItemCollectionMetrics are the collection sizes of one table.
type TableItemCollectionMetrics struct {
	TableName string
	Metrics   []ItemCollectionMetrics
}

// TransactWriteItemsInput asks for up to 100 writes, all or none.
type TransactWriteItemsInput struct {
	TransactItems               []TransactWriteItem
	ClientRequestToken          *string
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

// TransactWriteItem is one of the four actions; the others are nil.
type TransactWriteItem struct {
	ConditionCheck *TransactAction
	Put            *TransactAction
	Update         *TransactAction
	Delete         *TransactAction
}

// TransactAction is one action of a write transaction. Item is for Put,
// UpdateExpression for Update, Key for all but Put.
type TransactAction struct {
	TableName                           *string
	Item                                attr.Item
	Key                                 attr.Item
	UpdateExpression                    *string
	ConditionExpression                 *string
	Expressions                         Expressions
	ReturnValuesOnConditionCheckFailure string
}

// TransactWriteItemsOutput answers a committed write transaction.
type TransactWriteItemsOutput struct {
	ConsumedCapacity      []ConsumedCapacity
	ItemCollectionMetrics []TableItemCollectionMetrics
}

// TransactGetItemsInput asks for up to 100 items as of one moment.
type TransactGetItemsInput struct {
	TransactItems          []TransactGetItem
	ReturnConsumedCapacity string
}

// TransactGetItem wraps one read; Get is nil when absent on the wire.
type TransactGetItem struct{ Get *TransactGet }

// TransactGet is one read of a read transaction.
type TransactGet struct {
	TableName            *string
	Key                  attr.Item
	ProjectionExpression *string
	Names                map[string]string
}

// TransactGetItemsOutput has one entry per read, in order; IsNil where absent.
type TransactGetItemsOutput struct {
	Responses        []attr.Item
	ConsumedCapacity []ConsumedCapacity
}
