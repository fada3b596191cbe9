package emulator

type (
	DescribeLimitsInput  struct{}
	DescribeLimitsOutput struct {
		AccountMaxReadCapacityUnits, AccountMaxWriteCapacityUnits int64
		TableMaxReadCapacityUnits, TableMaxWriteCapacityUnits     int64
	}

	DescribeEndpointsInput  struct{}
	DescribeEndpointsOutput struct{ Endpoints []Endpoint }
	// Endpoint is where to find the service. An empty Address lets the wire put
	// the host that the request was sent to.
	Endpoint struct {
		Address              string
		CachePeriodInMinutes int64
	}

	TimeToLiveSpecification struct {
		AttributeName *string
		Enabled       *bool
	}
	UpdateTimeToLiveInput struct {
		TableName               *string
		TimeToLiveSpecification *TimeToLiveSpecification
	}
	UpdateTimeToLiveOutput struct{ TimeToLiveSpecification TimeToLiveSpecification }

	DescribeTimeToLiveInput  struct{ TableName *string }
	DescribeTimeToLiveOutput struct {
		TimeToLiveStatus string // ENABLING ENABLED DISABLING DISABLED
		AttributeName    string // empty when DISABLED
	}

	TagResourceInput struct {
		ResourceArn *string
		Tags        []Tag // nil when absent
	}
	TagResourceOutput struct{}

	UntagResourceInput struct {
		ResourceArn *string
		TagKeys     []string // nil when absent
	}
	UntagResourceOutput struct{}

	ListTagsOfResourceInput struct {
		ResourceArn *string
		NextToken   *string
	}
	ListTagsOfResourceOutput struct {
		Tags      []Tag
		NextToken string
	}
)
