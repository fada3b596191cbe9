package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/hotsplit/hotsplit/renewal/web"
)

// window is what /ops calls right now.
const window = time.Minute

// Ceiling of one physical partition, in units a second.
const (
	partitionReads  = 3000
	partitionWrites = 1000
)

// meter adds up what is spent on each index key and which requests were
// throttled, by the second, for the last minute.
type meter struct {
	mu      sync.Mutex
	seconds [int(window / time.Second)]second
}

type second struct {
	at        int64
	keys      map[string]spent
	throttled int
}

type spent struct{ read, write float64 }

func (m *meter) at(now time.Time) *second {
	s := &m.seconds[now.Unix()%int64(len(m.seconds))]
	if s.at != now.Unix() {
		*s = second{at: now.Unix(), keys: map[string]spent{}}
	}
	return s
}

// keysMax bounds what one second remembers.
const keysMax = 512

func (m *meter) spent(key string, read, write float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.at(time.Now())
	have, known := s.keys[key]
	if !known && len(s.keys) >= keysMax {
		return
	}
	s.keys[key] = spent{have.read + read, have.write + write}
}

func (m *meter) throttle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at(time.Now()).throttled++
}

// use is the last minute's averages, the busiest key first.
func (m *meter) use(now time.Time) (keys []web.KeyUse, throttled int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := map[string]spent{}
	for _, s := range m.seconds {
		if now.Unix()-s.at >= int64(len(m.seconds)) {
			continue
		}
		throttled += s.throttled
		for key, u := range s.keys {
			sum[key] = spent{sum[key].read + u.read, sum[key].write + u.write}
		}
	}
	for key, u := range sum {
		use := web.KeyUse{Key: key, Read: u.read / window.Seconds(), Write: u.write / window.Seconds()}
		use.Share = max(use.Read/partitionReads, use.Write/partitionWrites)
		keys = append(keys, use)
	}
	slices.SortFunc(keys, func(a, b web.KeyUse) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Key, b.Key))
	})
	return keys, throttled
}

// client makes a DynamoDB client count its throttled attempts, those that a
// retry makes good too.
func (m *meter) client(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("renewald.throttles",
			func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
				out, metadata, err := next.HandleDeserialize(ctx, in)
				if throttled(err) {
					m.throttle()
				}
				return out, metadata, err
			}), middleware.Before)
	})
}

func throttled(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode() {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded":
		return true
	}
	return false
}
