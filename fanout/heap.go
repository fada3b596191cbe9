package fanout

// front is a heap of the strands that have a row to yield, the next one on top.
type front struct {
	order   order
	strands []*strand
}

func (f *front) before(a, b *strand) bool {
	if c := f.order.compare(a.head().place, b.head().place); c != 0 {
		return c < 0
	}
	return a.rank > b.rank
}

func (f *front) push(s *strand) {
	f.strands = append(f.strands, s)
	for i := len(f.strands) - 1; i > 0; {
		parent := (i - 1) / 2
		if !f.before(f.strands[i], f.strands[parent]) {
			return
		}
		f.strands[i], f.strands[parent] = f.strands[parent], f.strands[i]
		i = parent
	}
}

// dropTop removes the top strand.
func (f *front) dropTop() {
	last := len(f.strands) - 1
	f.strands[0] = f.strands[last]
	f.strands[last] = nil
	f.strands = f.strands[:last]
	f.fixTop()
}

// fixTop restores the heap after the top strand's head changed.
func (f *front) fixTop() {
	n := len(f.strands)
	for i := 0; ; {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < n; child++ {
			if f.before(f.strands[child], f.strands[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		f.strands[i], f.strands[first] = f.strands[first], f.strands[i]
		i = first
	}
}
