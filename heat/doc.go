// Package heat knows who uses how much of which key: top keys with error bounds,
// a heat map, and verdicts with their evidence.
//
// An [Event] is what one request did to one table or index. Events come from an
// instrumented SDK client ([Instrument]), from a trace file ([ReadTrace]; the
// format is in docs/trace-format.md), or from any other record of requests. A
// [Recorder] folds them into bounded memory second by second, and [Recorder.Report]
// says what was seen and what it means.
//
// Load is measured in partitions: 1.0 is one physical partition at its ceiling
// of 3,000 read or 1,000 write units in one second. Nothing here averages over
// minutes, because a partition refuses by the second.
//
// Verdicts are rules. Each has a name, a severity, the evidence that it rests on
// and the next step; where the data is too thin the verdict is [CannotTell].
package heat
