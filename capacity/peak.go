package capacity

import "time"

// onDemandSettle is how long traffic must be known before it counts as the
// previous peak, which on-demand capacity doubles.
const onDemandSettle = 30 * time.Minute

// peakWindow is the time over which traffic is averaged.
const peakWindow = time.Minute

// peak follows the traffic of one direction of an on-demand table or index.
type peak struct {
	floor   float64 // warm throughput: served at once; never lowered
	settled float64 // the highest rate that is at least onDemandSettle old

	window time.Time
	units  float64
	// fresh holds rates that exceed every earlier one and are not settled yet, so
	// at most one a minute.
	fresh []peakRate
}

type peakRate struct {
	at   time.Time // start of the window
	rate float64
}

func (p *peak) warm(rate float64) { p.floor = max(p.floor, rate) }

func (p *peak) add(units float64, now time.Time) {
	p.roll(now)
	p.units += units
}

func (p *peak) roll(now time.Time) {
	if p.window.IsZero() {
		p.window = now
	}
	d := now.Sub(p.window)
	if d < peakWindow {
		return
	}
	rate := p.units / peakWindow.Seconds()
	if rate > p.highest() {
		p.fresh = append(p.fresh, peakRate{p.window, rate})
	}
	p.units = 0
	p.window = p.window.Add(d.Truncate(peakWindow))
}

func (p *peak) highest() float64 {
	if n := len(p.fresh); n > 0 {
		return p.fresh[n-1].rate
	}
	return p.settled
}

// ceiling is twice the previous peak, at least what is warm. Traffic that
// exceeds the previous peak becomes the next one half an hour after it began.
func (p *peak) ceiling(now time.Time) float64 {
	p.roll(now)
	for len(p.fresh) > 0 && now.Sub(p.fresh[0].at) >= onDemandSettle {
		p.settled = p.fresh[0].rate
		p.fresh = p.fresh[1:]
	}
	return max(p.floor, 2*p.settled)
}
