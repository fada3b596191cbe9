package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/hotsplit/hotsplit/sim"
)

// shownKeys are the numbers of keys that the table shows; --json has all.
var shownKeys = []int{1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128}

// text is the plan for people.
func (p *plan) text(made sim.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Key %s of index %s, table %s: %s owners\n\n", quoted(p.key), p.index, p.table, thousands(len(made.Input.Owners)))
	b.WriteString(headline(made))
	for _, r := range made.Reasons {
		b.WriteString(wrapText("- "+r, "  ", textWidth))
	}
	b.WriteString(candidatesText(made))
	if made.Recommended == 0 {
		return b.String()
	}
	b.WriteString(moveText(made))
	b.WriteString(p.nextText(made))
	return b.String()
}

func headline(made sim.Plan) string {
	switch made.Cure {
	case sim.CureShard:
		return fmt.Sprintf("Recommended: %d keys.\n", made.Recommended)
	case sim.CureCache:
		return fmt.Sprintf("Recommended: first cut the amplifier; %d keys if growth calls for it.\n", made.Recommended)
	case sim.CureOwner, sim.CureItem:
		return "Sharding by owner is the wrong cure here.\n"
	default:
		return "No cure is needed.\n"
	}
}

func candidatesText(made sim.Plan) string {
	var b strings.Builder
	in := made.Input
	fmt.Fprintf(&b, "\nThroughput as a multiple of one partition (3,000 read, 1,000 write units a second)\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	warm := ""
	if made.Partitions != in.Partitions {
		warm = fmt.Sprintf("on %d\t5–95 %%\t", made.Partitions)
	}
	fmt.Fprintf(t, "  keys\theaviest\tits peak\ton %d now\t5–95 %%\t%safter splits\tat the limit\treading all\tmore a month\t\n", in.Partitions, warm)
	for _, n := range keysToShow(made.Recommended) {
		c := made.At(n)
		mark := " "
		if n == made.Recommended {
			mark = "→"
		}
		if made.Partitions != in.Partitions {
			warm = fmt.Sprintf("%.1f ×\t%.1f–%.1f\t", c.Warmed.Mean, c.Warmed.Low, c.Warmed.High)
		}
		fmt.Fprintf(t, "%s %d\t%.1f %%\t%.0f %%\t%.1f ×\t%.1f–%.1f\t%s%.1f ×\t%.1f ×\t+%d requests\t$%.2f\t\n", mark, n, 100*c.HeaviestShare, 100*c.PeakLoad,
			c.Now.Mean, c.Now.Low, c.Now.High, warm, c.AfterSplits, c.Limit, c.ExtraRequestsAll, c.ExtraMonth)
	}
	t.Flush()
	b.WriteString(planLegend)
	return b.String()
}

const planLegend = `heaviest: the heaviest shard's share of the load, exactly, by the shard function. its peak: that
shard's part of a partition in the busiest second so far. 5–95 %: by luck of placement, which
nobody can choose. after splits: every key on a partition of its own. at the limit: split even
within keys; one owner stays together, and the quota holds. reading all: more requests than now.
`

func keysToShow(recommended int) []int {
	keys := append([]int(nil), shownKeys...)
	for i, n := range keys {
		if n == recommended || recommended == 0 {
			return keys
		}
		if n > recommended {
			return append(keys[:i:i], append([]int{recommended}, keys[i:]...)...)
		}
	}
	return keys
}

func moveText(made sim.Plan) string {
	m, in := made.Move, made.Input.Move
	if in.Rows == 0 {
		return "\nThe move: rows are not known; give --rows, or add a --diagnosis made with --scan.\n"
	}
	c := made.At(made.Recommended)
	return "\n" + wrapText(fmt.Sprintf("The move: %s rows at %.1f a second (%.0f write units a second on the old key), about %s moving rows and %s with every wait; %s write units, $%.2f. The list page asks %s. Polling all %d keys every 4 s when they are empty costs %s read units an hour.", thousands(in.Rows), m.RowsSecond, in.Budget, duration(m.Backfill), duration(m.Total), thousands(int(m.Units)), m.Money,
		listText(made.Input, c), c.Keys, thousands(int(c.IdleUnitsHour))), "", textWidth)
}

func listText(in sim.PlanInput, c sim.Candidate) string {
	if in.ListOwners == 0 {
		return "each owner's shard, one query an owner as before"
	}
	return fmt.Sprintf("%d owners in at most %d queries, where reading a shard is cheaper than asking owner by owner", in.ListOwners, c.ListRequests)
}

func (p *plan) nextText(made sim.Plan) string {
	var b strings.Builder
	b.WriteString("\nNext:\n")
	if made.WarmRead > 0 {
		fmt.Fprintf(&b, "  aws dynamodb update-table --table-name %s --global-secondary-index-updates \\\n    '[{\"Update\":{\"IndexName\":\"%s\",\"WarmThroughput\":{\"ReadUnitsPerSecond\":%.0f,\"WriteUnitsPerSecond\":%.0f}}}]'   # once, about $%.2f\n",
			p.table, p.index, made.WarmRead, made.WarmWrite, made.WarmMoney)
	}
	if p.spec == "" {
		fmt.Fprintf(&b, "  hotsplit init --table %s --index %s --shards %d\n", p.table, p.index, made.Recommended)
	}
	return b.String()
}
