package awsjson

import "github.com/hotsplit/hotsplit/emulator"

func writeDescribeLimits(w *writer, out *emulator.DescribeLimitsOutput) {
	w.int("AccountMaxReadCapacityUnits", out.AccountMaxReadCapacityUnits)
	w.int("AccountMaxWriteCapacityUnits", out.AccountMaxWriteCapacityUnits)
	w.int("TableMaxReadCapacityUnits", out.TableMaxReadCapacityUnits)
	w.int("TableMaxWriteCapacityUnits", out.TableMaxWriteCapacityUnits)
}

func writeUpdateTimeToLive(w *writer, out *emulator.UpdateTimeToLiveOutput) {
	w.member("TimeToLiveSpecification")
	w.open('{')
	if t := out.TimeToLiveSpecification; t.Enabled != nil {
		w.bool("Enabled", *t.Enabled)
	}
	w.text("AttributeName", deref(out.TimeToLiveSpecification.AttributeName))
	w.close('}')
}

func writeDescribeTimeToLive(w *writer, out *emulator.DescribeTimeToLiveOutput) {
	w.member("TimeToLiveDescription")
	w.open('{')
	w.string("TimeToLiveStatus", out.TimeToLiveStatus)
	w.text("AttributeName", out.AttributeName)
	w.close('}')
}

func writeListTagsOfResource(w *writer, out *emulator.ListTagsOfResourceOutput) {
	list(w, "Tags", out.Tags, func(w *writer, t *emulator.Tag) {
		w.string("Key", deref(t.Key))
		w.string("Value", deref(t.Value))
	})
	w.text("NextToken", out.NextToken)
}
