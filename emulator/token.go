package emulator

import (
	"sync"
	"time"
)

// tokenLife is how long a ClientRequestToken makes a transaction idempotent.
const tokenLife = 10 * time.Minute

// tokenBook remembers the transactions that carried a token.
type tokenBook struct {
	mu   sync.Mutex
	used map[string]*tokenUse
}

// tokenUse is one token. Its transaction holds mu while it runs.
type tokenUse struct {
	mu      sync.Mutex
	print   string // of the request
	done    bool
	expires time.Time
}

// claim returns the use of a token, locked, or nil when its transaction is still
// running. Uses that are over are forgotten on the way.
func (b *tokenBook) claim(token string, now time.Time) *tokenUse {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used == nil {
		b.used = map[string]*tokenUse{}
	}
	for t, u := range b.used {
		if u.mu.TryLock() {
			if now.After(u.expires) {
				delete(b.used, t)
			}
			u.mu.Unlock()
		}
	}
	u := b.used[token]
	if u == nil {
		u = &tokenUse{expires: now.Add(tokenLife)}
		b.used[token] = u
	}
	if !u.mu.TryLock() {
		return nil
	}
	return u
}
