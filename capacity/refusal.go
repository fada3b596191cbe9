package capacity

// Cause is the limit that refused a request.
type Cause uint8

// The causes, each with a metric family of its own.
const (
	NoCause Cause = iota
	KeyRangeThroughput
	ProvisionedThroughput
	AccountLimit
	MaxOnDemandThroughput
)

var causeNames = [...]string{
	NoCause:               "",
	KeyRangeThroughput:    "KeyRangeThroughputExceeded",
	ProvisionedThroughput: "ProvisionedThroughputExceeded",
	AccountLimit:          "AccountLimitExceeded",
	MaxOnDemandThroughput: "MaxOnDemandThroughputExceeded",
}

// Reason is the throttling reason on the wire, one of sixteen.
func Reason(index bool, d Direction, c Cause) string {
	resource, direction := "Table", "Read"
	if index {
		resource = "Index"
	}
	if d == Write {
		direction = "Write"
	}
	return resource + direction + causeNames[c]
}

// Refusal is a request that a limit refused.
type Refusal struct {
	Mode      Mode // of the table
	Index     bool // an index refused, not the table
	Direction Direction
	Cause     Cause
	// QuotaAsRequestLimit answers quota refusals with RequestLimitExceeded. Which
	// of the two the service uses when is unknown.
	QuotaAsRequestLimit bool
}

// Exceptions of a refusal.
const (
	CodeProvisioned  = "ProvisionedThroughputExceededException"
	CodeThrottling   = "ThrottlingException"
	CodeRequestLimit = "RequestLimitExceeded"
)

// What the service says, letter by letter: the index messages of provisioned
// tables have no full stop.
const (
	messageProvisionedTable = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."
	messageProvisionedIndex = "The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API"
	messageOnDemandTable    = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	messageOnDemandIndex    = "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically scaling your index so please try again shortly."
	messageOnDemandMaximum  = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
	messageQuota            = "Throughput exceeds the current throughput limit for your account. To request a limit increase, contact AWS Support at https://aws.amazon.com/support"
)

// Reason is the throttling reason on the wire.
func (r Refusal) Reason() string { return Reason(r.Index, r.Direction, r.Cause) }

// Code is the exception. A key range is refused as provisioned throughput is on a
// provisioned table, and as throttling on demand.
func (r Refusal) Code() string {
	switch {
	case r.Cause == AccountLimit && r.QuotaAsRequestLimit:
		return CodeRequestLimit
	case r.Mode == Provisioned && r.Cause != AccountLimit:
		return CodeProvisioned
	default:
		return CodeThrottling
	}
}

// Message is the text of the exception. A read of an index is about that index
// itself; only writes are refused on behalf of one.
func (r Refusal) Message() string {
	behalf := r.Index && r.Direction == Write
	switch {
	case r.Cause == AccountLimit:
		return messageQuota
	case r.Cause == MaxOnDemandThroughput:
		return messageOnDemandMaximum
	case r.Mode == Provisioned && behalf:
		return messageProvisionedIndex
	case r.Mode == Provisioned:
		return messageProvisionedTable
	case behalf:
		return messageOnDemandIndex
	default:
		return messageOnDemandTable
	}
}
