package sim

import (
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// Design is one way to key the index and what surrounds it. The zero Design is
// the constant key on a fresh on-demand index.
type Design struct {
	Name  string `yaml:"name" json:"name"`
	Notes string `yaml:"notes" json:"notes,omitempty"`

	Shards     int  `yaml:"shards" json:"shards,omitempty"`         // keys; 0 is the constant key
	OwnerKey   bool `yaml:"ownerKey" json:"ownerKey,omitempty"`     // each owner is a key; reading all is a Scan of the table
	Partitions int  `yaml:"partitions" json:"partitions,omitempty"` // of the index; 0 means 4

	Cache   time.Duration `yaml:"cache" json:"cache,omitempty"`     // age up to which amplifier pages share one snapshot of all rows
	Stagger bool          `yaml:"stagger" json:"stagger,omitempty"` // amplifier sweeps are spread over their period

	ProvisionedRead  float64 `yaml:"provisionedRead" json:"provisionedRead,omitempty"` // of the index; 0 is on demand
	ProvisionedWrite float64 `yaml:"provisionedWrite" json:"provisionedWrite,omitempty"`

	Retry Retry `yaml:"retry" json:"retry,omitzero"` // in place of the workload's

	Split capacity.SplitOptions `yaml:"split" json:"split,omitzero"` // for heat; zero never splits
}

func (d Design) fault() string {
	switch {
	case d.Name == "":
		return "name is missing"
	case d.Shards < 0 || d.Shards > 10_000:
		return "shards is not between 0 and 10,000"
	case d.OwnerKey && d.Shards > 0:
		return "ownerKey and shards exclude each other"
	case d.Partitions < 0 || d.Partitions > 1000:
		return "partitions is not between 0 and 1,000"
	case (d.ProvisionedRead > 0) != (d.ProvisionedWrite > 0):
		return "provisionedRead and provisionedWrite come together"
	case d.Retry.Model != "" && d.Retry.Model != RetrySDK && d.Retry.Model != RetryLegacy:
		return "retry model is unknown"
	}
	return ""
}

// partitions is how many the index has: as said, or what its throughput needs.
func (d Design) partitions() int {
	if d.Partitions > 0 {
		return d.Partitions
	}
	if d.ProvisionedRead > 0 {
		return capacity.PartitionsFor(d.ProvisionedRead, d.ProvisionedWrite)
	}
	return capacity.PartitionsDefault
}

// Designs are the alternatives that ADR-0085 weighs, and combinations.
func Designs() []Design {
	const cacheAge = 10 * time.Second
	return []Design{
		{Name: "as is", Notes: "one constant key, everything as it runs today"},
		{Name: "amplifiers cut", Cache: cacheAge, Stagger: true, Notes: "list pages share a 10 s snapshot, sweeps are staggered"},
		{Name: "8 shards", Shards: 8, Notes: "8 keys on a fresh index of 4 partitions"},
		{Name: "16 shards", Shards: 16, Notes: "16 keys on a fresh index of 4 partitions"},
		{Name: "32 shards", Shards: 32, Notes: "32 keys on a fresh index of 4 partitions"},
		{Name: "16 shards, warmed", Shards: 16, Partitions: 16, Notes: "16 keys, warm throughput for 16 partitions"},
		{Name: "16 shards, amplifiers cut", Shards: 16, Cache: cacheAge, Stagger: true, Notes: "the decision and the fast follow together"},
		{Name: "person key + scan", OwnerKey: true, Notes: "each person is a key; sweeps scan the table"},
		{Name: "more capacity", ProvisionedRead: 16000, ProvisionedWrite: 16000, Notes: "provisioned 16,000 read and write units a second, constant key"},
		{Name: "longer retries", Retry: Retry{Attempts: 8}, Notes: "8 attempts in place of the SDK's"},
	}
}
