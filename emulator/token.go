package emulator

import (
	"crypto/sha256"
	"sync"
	"time"
)

// tokenLife is how long a ClientRequestToken makes a transaction idempotent.
const tokenLife = 10 * time.Minute

// tokenBook remembers the transactions that carried a token. Clients of the SDK
// send one with every transaction, so forgetting must be cheap: queue is in order
// of expiry.
type tokenBook struct {
	mu    sync.Mutex
	used  map[string]*tokenUse
	queue []*tokenUse
}

// tokenUse is one token. Its transaction holds mu while it runs.
type tokenUse struct {
	mu      sync.Mutex
	token   string
	print   [sha256.Size]byte // of the request
	done    bool
	expires time.Time
}

// claim returns the use of a token, locked, or nil when its transaction is still
// running.
func (b *tokenBook) claim(token string, now time.Time) *tokenUse {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) > 0 && now.After(b.queue[0].expires) {
		delete(b.used, b.queue[0].token)
		b.queue = b.queue[1:]
	}
	u := b.used[token]
	if u == nil {
		if b.used == nil {
			b.used = map[string]*tokenUse{}
		}
		u = &tokenUse{token: token, expires: now.Add(tokenLife)}
		b.used[token] = u
		b.queue = append(b.queue, u)
	}
	if !u.mu.TryLock() {
		return nil
	}
	return u
}
