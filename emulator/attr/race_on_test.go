//go:build race

package attr_test

// underRace: the race detector makes pools forget, so allocations say nothing.
const underRace = true
