// Package expr knows DynamoDB's expression language: conditions and filters, key
// conditions, updates and projections.
//
// An expression goes through three steps. Its text is parsed, which finds every
// fault that does not depend on placeholders; the outcome, fault or tree, is kept
// in a Cache. A Binder then gives the placeholders of one request their names and
// values and checks operands. What results is evaluated against items, which can
// fail only for an Update.
//
// Faults are reported in the order of the service: it names one, and which one
// it names is part of what programs and their tests see.
package expr
