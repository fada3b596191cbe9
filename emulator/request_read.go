package emulator

import "github.com/hotsplit/hotsplit/emulator/attr"

// QueryInput asks for a page of one item collection of a table or index.
type QueryInput struct {
	TableName              *string
	IndexName              *string
	KeyConditionExpression *string
	FilterExpression       *string
	ProjectionExpression   *string
	Expressions            Expressions
	ConsistentRead         bool
	ScanIndexForward       *bool
	Limit                  *int
	ExclusiveStartKey      attr.Item
	Select                 string
	ReturnConsumedCapacity string
	Legacy                 Legacy
}

// ScanInput asks for a page of a table or index in storage order.
type ScanInput struct {
	TableName              *string
	IndexName              *string
	FilterExpression       *string
	ProjectionExpression   *string
	Expressions            Expressions
	ConsistentRead         bool
	Limit                  *int
	ExclusiveStartKey      attr.Item
	Segment                *int
	TotalSegments          *int
	Select                 string
	ReturnConsumedCapacity string
	Legacy                 Legacy
}

// PageOutput answers Query and Scan.
type PageOutput struct {
	Items            []attr.Item // nil for Select COUNT, else not nil
	Count            int
	ScannedCount     int
	LastEvaluatedKey attr.Item // IsNil on the last page
	ConsumedCapacity *ConsumedCapacity
}

type (
	QueryOutput = PageOutput
	ScanOutput  = PageOutput
)
