// Package sim knows what a workload does to an index under one design or
// another: it plays weeks of pages, sweeps and writes on a virtual clock and
// compares what users would have seen.
//
// A [Workload] says who asks what, when and how often; a [Design] says how the
// index is keyed and what surrounds it. [Run] plays one design, [Compare]
// several. Every source of chance comes from the workload's seed, so two runs of
// a seed are equal, and two designs of one run see the same arrivals.
//
// Requests pass package capacity's partitions and gates one by one and are
// retried as the AWS SDK for Go does it. Only while every partition that a page
// touches is at least half full, so that nothing can be refused, is the whole
// page taken at once; that is what makes six weeks take seconds.
//
// [Plan] answers the narrower question: for each number of shard keys, how heavy
// the heaviest becomes and what throughput is reached.
package sim
