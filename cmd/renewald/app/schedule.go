package app

import (
	"hash/fnv"
	"time"
)

// offset is a job's place in its period. It follows from the name, so it is the
// same in every process and after every restart, and jobs of one period do not
// begin together.
func offset(job string, every time.Duration) time.Duration {
	digest := fnv.New64a()
	digest.Write([]byte(job))
	return time.Duration(digest.Sum64() % uint64(every))
}

// slot is when the job's present period began, in Unix milliseconds. A run that
// comes late, because nobody ran for a while, takes the present slot: what was
// missed is caught up once.
func slot(job string, every time.Duration, now time.Time) int64 {
	return begin(job, every, now).UnixMilli()
}

// next is when the job's next period begins.
func next(job string, every time.Duration, now time.Time) time.Time {
	return begin(job, every, now).Add(every)
}

func begin(job string, every time.Duration, now time.Time) time.Time {
	shift := int64(offset(job, every))
	return time.Unix(0, (now.UnixNano()-shift)/int64(every)*int64(every)+shift)
}
