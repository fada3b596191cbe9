//go:build !race

package attr_test

const underRace = false
