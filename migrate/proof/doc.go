// Package proof knows what a move must never do, and tries to make it do so: a
// bounded model of the phase protocol that explores every interleaving, and a
// world in virtual time in which whole moves run under faults from a seed.
package proof
