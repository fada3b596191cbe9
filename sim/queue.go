package sim

// event is something that happens at a time: a source wakes, or one attempt of a
// request reaches the service.
type event struct {
	at       int64 // nanoseconds since the start
	seq      uint64
	source   *source // wakes, when call is nil
	call     *call
	lane     int32
	position int32
	tries    int32 // attempts made before this one
}

// queue is a heap of events by time, and by order of entry among equals, so that
// runs of one seed are equal.
type queue struct {
	events []event
	seq    uint64
}

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.events = append(q.events, e)
	i := len(q.events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&q.events[parent]) {
			break
		}
		q.events[i] = q.events[parent]
		i = parent
	}
	q.events[i] = e
}

func (q *queue) pop() event {
	top := q.events[0]
	last := len(q.events) - 1
	e := q.events[last]
	q.events[last] = event{}
	q.events = q.events[:last]
	if last > 0 {
		q.sink(e)
	}
	return top
}

func (q *queue) sink(e event) {
	i, n := 0, len(q.events)
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if q.events[c].before(&q.events[least]) {
				least = c
			}
		}
		if !q.events[least].before(&e) {
			break
		}
		q.events[i] = q.events[least]
		i = least
	}
	q.events[i] = e
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}
