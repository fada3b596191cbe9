package emulator

import "github.com/hotsplit/hotsplit/emulator/attr"

// Strings for which the service tells "absent" from "empty" are pointers;
// enumerations are plain strings, and empty means absent. A nil map is absent,
// an empty map that is not nil was present and empty. attr.Item is absent when
// IsNil.

// Expressions are the placeholders shared by all expressions of a request.
type Expressions struct {
	Names  map[string]string     // ExpressionAttributeNames
	Values map[string]attr.Value // ExpressionAttributeValues
}

// Legacy lists the legacy wire members that a request carries (AttributesToGet,
// Expected, KeyConditions …), in wire spelling. They are refused.
type Legacy []string

// PutItemInput asks to create or replace one item.
type PutItemInput struct {
	TableName                           *string
	Item                                attr.Item
	ConditionExpression                 *string
	Expressions                         Expressions
	ReturnValues                        string
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string
	ReturnValuesOnConditionCheckFailure string
	Legacy                              Legacy
}

// WriteOutput answers PutItem, UpdateItem and DeleteItem.
type WriteOutput struct {
	Attributes            attr.Item // nil unless asked for and present
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

type (
	PutItemOutput    = WriteOutput
	UpdateItemOutput = WriteOutput
	DeleteItemOutput = WriteOutput
)

// UpdateItemInput asks to change attributes of one item, creating it if absent.
type UpdateItemInput struct {
	TableName                           *string
	Key                                 attr.Item
	UpdateExpression                    *string
	ConditionExpression                 *string
	Expressions                         Expressions
	ReturnValues                        string
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string
	ReturnValuesOnConditionCheckFailure string
	Legacy                              Legacy
}

// DeleteItemInput asks to remove one item.
type DeleteItemInput struct {
	TableName                           *string
	Key                                 attr.Item
	ConditionExpression                 *string
	Expressions                         Expressions
	ReturnValues                        string
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string
	ReturnValuesOnConditionCheckFailure string
	Legacy                              Legacy
}

// GetItemInput asks for one item.
type GetItemInput struct {
	TableName              *string
	Key                    attr.Item
	ConsistentRead         bool
	ProjectionExpression   *string
	Expressions            Expressions // Values unused
	ReturnConsumedCapacity string
	Legacy                 Legacy
}

// GetItemOutput holds the item, IsNil when there is none.
type GetItemOutput struct {
	Item             attr.Item
	ConsumedCapacity *ConsumedCapacity
}

// ItemCollectionMetrics estimates the size of an item collection of a table with
// local indexes.
type ItemCollectionMetrics struct {
	ItemCollectionKey   attr.Item
	SizeEstimateRangeGB [2]float64
}

// ConsumedCapacity is what a request cost on one table.
type ConsumedCapacity struct {
	TableName     string // an ARN if the request used one
	CapacityUnits float64
	// Read and Write are set in the answers of transactions only.
	ReadCapacityUnits, WriteCapacityUnits *float64

	// The rest is set for INDEXES only.
	Table                  *Capacity
	GlobalSecondaryIndexes map[string]Capacity
	LocalSecondaryIndexes  map[string]Capacity
}

// Capacity is the part of one table or index.
type Capacity struct {
	CapacityUnits                         float64
	ReadCapacityUnits, WriteCapacityUnits *float64
}
