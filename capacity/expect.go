package capacity

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Expectation is the throughput that a number of equally loaded keys reaches on
// partitions of equal hash ranges, over all placements. The fullest partition
// decides: it serves its ceiling, and every key then runs at its share of that.
type Expectation struct {
	Keys, Partitions int
	outcomes         []outcome // ascending by throughput
}

// outcome is one number of keys on the fullest partition.
type outcome struct {
	most               int
	throughput, chance float64
}

// keysExactMax bounds the exact computation, which is quadratic in the keys.
const keysExactMax = 512

// placementsSampled is how many placements stand for all beyond keysExactMax.
const placementsSampled = 4000

// Expect computes the expectation for a ceiling per partition, such as
// PartitionCeiling.Write. Halve it for updates that change an index key: each
// takes a delete and a put.
func Expect(keys, partitions int, ceiling float64) Expectation {
	keys, partitions = max(1, keys), max(1, partitions)
	e := Expectation{Keys: keys, Partitions: partitions}
	atMost := fullest(keys, partitions)
	for most := keys; most >= 1; most-- {
		if chance := atMost[most] - atMost[most-1]; chance > 0 {
			e.outcomes = append(e.outcomes, outcome{most, float64(keys) / float64(most) * ceiling, chance})
		}
	}
	return e
}

// Mean is the expected throughput.
func (e Expectation) Mean() float64 {
	mean := 0.0
	for _, o := range e.outcomes {
		mean += o.throughput * o.chance
	}
	return mean
}

// Percentile is the throughput that a share q of the placements does not exceed.
func (e Expectation) Percentile(q float64) float64 {
	sum := 0.0
	for _, o := range e.outcomes {
		if sum += o.chance; sum >= q {
			return o.throughput
		}
	}
	return e.outcomes[len(e.outcomes)-1].throughput
}

// Reaches is the chance that the throughput is at least t.
func (e Expectation) Reaches(t float64) float64 {
	at := sort.Search(len(e.outcomes), func(i int) bool { return e.outcomes[i].throughput >= t-slack })
	sum := 0.0
	for _, o := range e.outcomes[at:] {
		sum += o.chance
	}
	return min(1, sum)
}

// Fullest is the chance that the fullest partition holds exactly n keys.
func (e Expectation) Fullest(n int) float64 {
	for _, o := range e.outcomes {
		if o.most == n {
			return o.chance
		}
	}
	return 0
}

// fullest is, for each m, the chance that no partition holds more than m keys.
func fullest(keys, partitions int) []float64 {
	if keys > keysExactMax {
		return sampleFullest(keys, partitions)
	}
	atMost := make([]float64, keys+1)
	load := poisson(float64(keys)/float64(partitions), keys)
	all := poisson(float64(keys), keys)[keys]
	for m := 1; m <= keys; m++ {
		// Poisson counts, given their sum, are the multinomial counts of a placement.
		atMost[m] = min(1, power(load[:m+1], partitions, keys)[keys]/all)
		if atMost[m] > 1-1e-12 {
			for ; m <= keys; m++ {
				atMost[m] = 1
			}
		}
	}
	return atMost
}

// poisson is the distribution with the given mean, up to n.
func poisson(mean float64, n int) []float64 {
	p := make([]float64, n+1)
	for k := range p {
		lg, _ := math.Lgamma(float64(k) + 1)
		p[k] = math.Exp(float64(k)*math.Log(mean) - mean - lg)
	}
	return p
}

// power is the distribution of the sum of exponent draws from p, up to n.
func power(p []float64, exponent, n int) []float64 {
	result := []float64{1}
	for ; exponent > 0; exponent /= 2 {
		if exponent%2 == 1 {
			result = convolve(result, p, n)
		}
		p = convolve(p, p, n)
	}
	return append(result, make([]float64, n+1-len(result))...)
}

func convolve(a, b []float64, n int) []float64 {
	sum := make([]float64, min(n+1, len(a)+len(b)-1))
	for i, x := range a {
		for j := 0; j < len(b) && i+j < len(sum); j++ {
			sum[i+j] += x * b[j]
		}
	}
	return sum
}

func sampleFullest(keys, partitions int) []float64 {
	random := rand.New(rand.NewPCG(uint64(keys), uint64(partitions)))
	atMost := make([]float64, keys+1)
	counts := make([]int, partitions)
	for range placementsSampled {
		clear(counts)
		most := 0
		for range keys {
			i := random.IntN(partitions)
			counts[i]++
			most = max(most, counts[i])
		}
		atMost[most] += 1.0 / placementsSampled
	}
	for m := 1; m <= keys; m++ {
		atMost[m] += atMost[m-1]
	}
	return atMost
}
