package emulator

import "time"

// AttributeDefinition gives the type of a key attribute.
type AttributeDefinition struct {
	AttributeName *string
	AttributeType string // S N B
}

// KeySchemaElement names one attribute of a key.
type KeySchemaElement struct {
	AttributeName *string
	KeyType       string // HASH RANGE
}

// Projection says which attributes an index holds.
type Projection struct {
	ProjectionType   string // ALL KEYS_ONLY INCLUDE
	NonKeyAttributes []string
}

// ProvisionedThroughput is a rate in units per second.
type ProvisionedThroughput struct {
	ReadCapacityUnits, WriteCapacityUnits *int64
}

// OnDemandThroughput caps an on-demand table or index; -1 removes the cap.
type OnDemandThroughput struct {
	MaxReadRequestUnits, MaxWriteRequestUnits *int64
}

// WarmThroughput is the rate that a table or index can serve at once.
type WarmThroughput struct {
	ReadUnitsPerSecond, WriteUnitsPerSecond *int64
	Status                                  string // in descriptions only
}

// IndexSpec describes an index in CreateTable and UpdateTable. The throughput
// members are for global indexes only.
type IndexSpec struct {
	IndexName             *string
	KeySchema             []KeySchemaElement
	Projection            *Projection
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *WarmThroughput
}

// Tag is a label of a table.
type Tag struct{ Key, Value *string }

// CreateTableInput asks for a new table.
type CreateTableInput struct {
	TableName                 *string
	AttributeDefinitions      []AttributeDefinition
	KeySchema                 []KeySchemaElement
	BillingMode               string
	ProvisionedThroughput     *ProvisionedThroughput
	OnDemandThroughput        *OnDemandThroughput
	WarmThroughput            *WarmThroughput
	GlobalSecondaryIndexes    []IndexSpec
	LocalSecondaryIndexes     []IndexSpec
	Tags                      []Tag
	TableClass                string
	DeletionProtectionEnabled *bool
	// StreamEnabled and SSEEnabled report the members of StreamSpecification and
	// SSESpecification. Streams are refused.
	StreamEnabled  *bool
	StreamViewType string
	SSEEnabled     *bool
}

// UpdateTableInput asks to change a table.
type UpdateTableInput struct {
	TableName                   *string
	AttributeDefinitions        []AttributeDefinition
	BillingMode                 string
	ProvisionedThroughput       *ProvisionedThroughput
	OnDemandThroughput          *OnDemandThroughput
	WarmThroughput              *WarmThroughput
	GlobalSecondaryIndexUpdates []IndexUpdate
	TableClass                  string
	DeletionProtectionEnabled   *bool
	StreamEnabled               *bool
	SSEEnabled                  *bool
	ReplicaUpdates              bool // the member was present; global tables are refused
}

// IndexUpdate is one of the three; the others are nil.
type IndexUpdate struct {
	Create *IndexSpec
	Update *IndexSpec // KeySchema and Projection unused
	Delete *IndexSpec // IndexName only
}

// TableOutput answers CreateTable, DescribeTable, UpdateTable and DeleteTable. On
// the wire the member is "Table" for DescribeTable, else "TableDescription".
type TableOutput struct{ Table *TableDescription }

type (
	DescribeTableInput struct{ TableName *string }
	DeleteTableInput   struct{ TableName *string }

	ListTablesInput struct {
		ExclusiveStartTableName *string
		Limit                   *int
	}
	ListTablesOutput struct {
		TableNames             []string
		LastEvaluatedTableName string // empty on the last page
	}
)

// TableDescription is what the service tells about a table.
type TableDescription struct {
	TableName                 string
	TableARN                  string
	TableID                   string
	TableStatus               string
	CreationDateTime          time.Time
	AttributeDefinitions      []AttributeDefinition
	KeySchema                 []KeySchemaElement
	ItemCount                 int64
	TableSizeBytes            int64
	BillingMode               string // PAY_PER_REQUEST gives BillingModeSummary
	LastUpdateToPayPerRequest time.Time
	ProvisionedThroughput     ProvisionedThroughputDescription
	OnDemandThroughput        *OnDemandThroughput
	WarmThroughput            *WarmThroughput
	GlobalSecondaryIndexes    []IndexDescription
	LocalSecondaryIndexes     []IndexDescription
	TableClass                string // empty unless the request named one
	DeletionProtectionEnabled bool
	SSEEnabled                bool
}

// ProvisionedThroughputDescription is zero for on-demand tables.
type ProvisionedThroughputDescription struct {
	ReadCapacityUnits, WriteCapacityUnits  int64
	NumberOfDecreasesToday                 int64
	LastIncreaseDateTime, LastDecreaseDate time.Time // zero: never
}

// IndexDescription describes an index. For local indexes only the first four
// members and the two sizes are shown on the wire.
type IndexDescription struct {
	IndexName             string
	IndexARN              string
	KeySchema             []KeySchemaElement
	Projection            Projection
	IndexStatus           string
	Backfilling           bool // shown only while true
	ItemCount             int64
	IndexSizeBytes        int64
	ProvisionedThroughput ProvisionedThroughputDescription
	OnDemandThroughput    *OnDemandThroughput
	WarmThroughput        *WarmThroughput
}
