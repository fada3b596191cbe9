package capacity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/capacity"
)

func TestSixteenReasons(t *testing.T) {
	var reasons []string
	for _, index := range []bool{false, true} {
		for _, d := range []capacity.Direction{capacity.Read, capacity.Write} {
			for c := capacity.KeyRangeThroughput; c <= capacity.MaxOnDemandThroughput; c++ {
				reasons = append(reasons, capacity.Reason(index, d, c))
			}
		}
	}
	slices.Sort(reasons)
	if reasons = slices.Compact(reasons); len(reasons) != 16 || !slices.Contains(reasons, "IndexWriteKeyRangeThroughputExceeded") {
		t.Errorf("%d reasons: %v", len(reasons), reasons)
	}
}

// The table of physics 4.2.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		refusal capacity.Refusal
		code    string
		text    string // start of the message
		stop    bool   // ends with a full stop
	}{
		{"hot index, on demand", capacity.Refusal{Index: true, Direction: capacity.Write, Cause: capacity.KeyRangeThroughput}, "ThrottlingException", "Throughput exceeds the current capacity for one or more global secondary indexes.", true},
		{"hot table, on demand", capacity.Refusal{Direction: capacity.Write, Cause: capacity.KeyRangeThroughput}, "ThrottlingException", "Throughput exceeds the current capacity of your table or index.", false},
		{"index read, on demand", capacity.Refusal{Index: true, Cause: capacity.KeyRangeThroughput}, "ThrottlingException", "Throughput exceeds the current capacity of your table or index.", false},
		{"table, provisioned", capacity.Refusal{Mode: capacity.Provisioned, Cause: capacity.ProvisionedThroughput}, "ProvisionedThroughputExceededException", "The level of configured provisioned throughput for the table was exceeded.", true},
		{"index, provisioned", capacity.Refusal{Mode: capacity.Provisioned, Index: true, Direction: capacity.Write, Cause: capacity.KeyRangeThroughput}, "ProvisionedThroughputExceededException", "The level of configured provisioned throughput for one or more global", false},
		{"maximum", capacity.Refusal{Cause: capacity.MaxOnDemandThroughput}, "ThrottlingException", "Throughput exceeds the maximum OnDemandThroughput", false},
		{"quota", capacity.Refusal{Cause: capacity.AccountLimit}, "ThrottlingException", "Throughput exceeds the current throughput limit for your account.", false},
		{"quota, other class", capacity.Refusal{Cause: capacity.AccountLimit, QuotaAsRequestLimit: true}, "RequestLimitExceeded", "Throughput exceeds the current throughput limit", false},
	} {
		if got := c.refusal.Code(); got != c.code {
			t.Errorf("%s: code %s, want %s", c.name, got, c.code)
		}
		message := c.refusal.Message()
		if !strings.HasPrefix(message, c.text) || strings.HasSuffix(message, ".") != c.stop {
			t.Errorf("%s: message %q", c.name, message)
		}
	}
}
