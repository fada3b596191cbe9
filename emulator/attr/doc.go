// Package attr knows what a DynamoDB attribute value is: its ten kinds, how
// numbers are spelled and computed, how keys are ordered, how many bytes a value
// counts for, and its JSON on the wire.
//
// A Value is one string: a tag byte and a payload. An Item is one string as well,
// its fields laid out one behind the other in the order of their names. Neither
// holds a pointer to its parts, so an item costs one allocation, the garbage
// collector has nothing to follow, and everything read out of an item shares its
// bytes. Both are immutable; a change makes a new one.
package attr
