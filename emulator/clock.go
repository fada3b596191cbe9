package emulator

import "time"

// Now is the time by which the DB refills, propagates and expires: the process's
// own, moved ahead by what Advance was told.
func (db *DB) Now() time.Time { return time.Now().Add(time.Duration(db.ahead.Load())) }

// Advance moves the DB's clock ahead, so that a test over HTTP need not wait for
// lag, bursts, splits and expiry. Tests inside a synctest bubble sleep instead.
// It never goes back: a negative duration does nothing.
func (db *DB) Advance(d time.Duration) {
	if d > 0 {
		db.ahead.Add(int64(d))
	}
}
