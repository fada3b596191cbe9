package sim

import (
	"math"
	"math/bits"
	"time"
)

// histogram counts durations in buckets of 1/32 of their power of two, so that a
// quantile is right within 3 %.
type histogram struct {
	counts []int64
	total  int64
	sum    time.Duration
	worst  time.Duration
}

const histogramSteps = 32

func (h *histogram) add(d time.Duration) {
	h.total++
	h.sum += d
	h.worst = max(h.worst, d)
	at := bucketOf(d)
	for len(h.counts) <= at {
		h.counts = append(h.counts, 0)
	}
	h.counts[at]++
}

// bucketOf counts in microseconds.
func bucketOf(d time.Duration) int {
	v := uint64(max(0, d.Microseconds()))
	if v < histogramSteps {
		return int(v)
	}
	exponent := bits.Len64(v) - 6 // v>>exponent has six bits: 32 to 63
	return (exponent+1)*histogramSteps + int(v>>exponent) - histogramSteps
}

// bucketEnd is the largest duration of a bucket.
func bucketEnd(at int) time.Duration {
	if at < histogramSteps {
		return time.Duration(at) * time.Microsecond
	}
	exponent, step := at/histogramSteps-1, at%histogramSteps+histogramSteps
	return time.Duration((uint64(step)+1)<<exponent-1) * time.Microsecond
}

func (h *histogram) quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rank := int64(math.Ceil(q * float64(h.total)))
	var seen int64
	for at, n := range h.counts {
		if seen += n; seen >= rank {
			return min(bucketEnd(at), h.worst)
		}
	}
	return h.worst
}

func (h *histogram) mean() time.Duration {
	if h.total == 0 {
		return 0
	}
	return h.sum / time.Duration(h.total)
}
