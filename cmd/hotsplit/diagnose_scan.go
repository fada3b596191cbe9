package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/heat"
	"github.com/hotsplit/hotsplit/sim"
)

// fromScan counts an index's rows and bytes by key and owner.
func (d *diagnose) fromScan(cmd *cobra.Command) (diagnosis, error) {
	ctx := cmd.Context()
	client, err := d.client(ctx, "hotsplit")
	if err != nil {
		return diagnosis{}, err
	}
	described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &d.table})
	if err != nil {
		return diagnosis{}, fmt.Errorf("table %s: %w", d.table, err)
	}
	index, keys, err := d.describedIndex(described.Table)
	if err != nil {
		return diagnosis{}, err
	}
	if err := d.askPrice(cmd, index); err != nil {
		return diagnosis{}, err
	}
	census := &census{keys: keys, owner: d.owner, separator: d.separator, perKey: map[string]*keyCensus{}}
	began := time.Now()
	if err := census.take(ctx, client, d.table, d.index); err != nil {
		return diagnosis{}, fmt.Errorf("scan %s/%s: %w", d.table, d.index, err)
	}
	return census.diagnosis(heat.Resource{Table: d.table, Index: d.index}, began), nil
}

func (d *diagnose) describedIndex(t *types.TableDescription) (types.GlobalSecondaryIndexDescription, heat.Keys, error) {
	schema := heat.SchemaOf(t)
	for _, i := range t.GlobalSecondaryIndexes {
		if aws.ToString(i.IndexName) == d.index {
			return i, schema.Indexes[d.index], nil
		}
	}
	var names []string
	for _, i := range t.GlobalSecondaryIndexes {
		names = append(names, aws.ToString(i.IndexName))
	}
	return types.GlobalSecondaryIndexDescription{}, heat.Keys{},
		badInput(fmt.Errorf("table %s has no index %q; it has %s", d.table, d.index, cmp.Or(strings.Join(names, ", "), "none")))
}

// askPrice says what the scan will cost, as the service last counted the index,
// and asks.
func (d *diagnose) askPrice(cmd *cobra.Command, index types.GlobalSecondaryIndexDescription) error {
	bytes := aws.ToInt64(index.IndexSizeBytes)
	units := capacity.PageUnits(int(bytes), 1, capacity.Eventual)
	fmt.Fprintf(cmd.ErrOrStderr(), "The scan reads %s rows, %s bytes: about %s read units of index %s ($%s on demand), as the service last counted it.\n",
		thousands(int(aws.ToInt64(index.ItemCount))), thousands(int(bytes)), thousands(int(units+0.5)), d.index, scanMoney(units))
	if d.yes {
		return nil
	}
	fmt.Fprint(cmd.ErrOrStderr(), "Scan it? [yes/no] ")
	answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return wrong(fmt.Errorf("scan not confirmed; answer yes, or give --yes"))
	}
	return nil
}

func scanMoney(units float64) string {
	dollars := units * sim.Prices{}.WithDefaults().ReadMillion / 1e6
	if dollars < 0.01 {
		return "0.01 at most"
	}
	return fmt.Sprintf("%.2f", dollars)
}

// census is rows and bytes by key and owner.
type census struct {
	keys             heat.Keys
	owner, separator string
	perKey           map[string]*keyCensus
	units            float64
	rows             int
}

type keyCensus struct {
	rows, bytes int
	owners      map[string]*sim.OwnerLoad
}

func (c *census) take(ctx context.Context, client *dynamodb.Client, table, index string) error {
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{
		TableName: &table, IndexName: &index, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		if page.ConsumedCapacity != nil {
			c.units += aws.ToFloat64(page.ConsumedCapacity.CapacityUnits)
		}
		for _, item := range page.Items {
			c.count(item)
		}
	}
	return nil
}

func (c *census) count(item map[string]types.AttributeValue) {
	key, size := scalar(item[c.keys.PartitionKey]), itemSize(item)
	k := c.perKey[key]
	if k == nil {
		k = &keyCensus{owners: map[string]*sim.OwnerLoad{}}
		c.perKey[key] = k
	}
	owner := scalar(item[c.owner])
	if c.owner == "" {
		owner = heat.OwnerOf(scalar(item[c.keys.SortKey]), c.separator)
	}
	o := k.owners[owner]
	if o == nil {
		o = &sim.OwnerLoad{Owner: owner}
		k.owners[owner] = o
	}
	c.rows++
	k.rows++
	k.bytes += size
	o.Rows++
	o.Bytes += size
	o.Load++
}

func (c *census) diagnosis(r heat.Resource, began time.Time) diagnosis {
	report := heat.Report{Source: fmt.Sprintf("scan of %s (%s read units)", r, thousands(int(c.units+0.5))), From: began.UTC(), To: time.Now().UTC(), Resolution: 1}
	res := heat.ResourceReport{Resource: r}
	res.Read = c.units
	var shapes []shape
	for key, k := range c.perKey {
		s := shape{Resource: r, Key: key, Of: "rows", Rows: k.rows, EntryBytes: k.bytes / max(1, k.rows)}
		for _, o := range k.owners {
			s.Owners = append(s.Owners, *o)
		}
		sortOwners(s.Owners)
		shapes = append(shapes, s)
		res.Keys = append(res.Keys, heat.KeyReport{Key: key, Share: float64(k.rows) / float64(max(1, c.rows))})
	}
	slices.SortFunc(shapes, func(a, b shape) int { return cmp.Or(b.Rows-a.Rows, cmp.Compare(a.Key, b.Key)) })
	slices.SortFunc(res.Keys, func(a, b heat.KeyReport) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Key, b.Key))
	})
	report.Resources = []heat.ResourceReport{res}
	report.Verdicts = []heat.Verdict{c.verdict(r, shapes)}
	return diagnosis{Report: report, Shapes: shapes}
}

const oneKeyShare = 0.5 // of an index's rows, that makes a key stand out

func (c *census) verdict(r heat.Resource, shapes []shape) heat.Verdict {
	v := heat.Verdict{Rule: heat.CannotTell, Severity: heat.Unknown, Resource: r,
		Next: "Record a trace (heat.Instrument) or look at CloudWatch (--cloudwatch) to see the traffic. hotsplit plan"}
	if len(shapes) == 0 {
		v.Text = fmt.Sprintf("Index %s is empty.", r.Index)
		return v
	}
	top := shapes[0]
	v.Key = top.Key
	share := float64(top.Rows) / float64(c.rows)
	if share >= oneKeyShare {
		v.Text = fmt.Sprintf("Key %q holds %.0f %% of index %s (%s rows of %s owners): whatever is asked of these rows meets on one partition, 3,000 read and 1,000 write units a second. Whether that is hot, rows alone cannot tell.",
			top.Key, 100*share, r.Index, thousands(top.Rows), thousands(len(top.Owners)))
	} else {
		v.Text = fmt.Sprintf("No key holds most of index %s: the largest of %s, %q, has %.0f %% of %s rows. Whether any is hot, rows alone cannot tell.",
			r.Index, thousands(len(shapes)), top.Key, 100*share, thousands(c.rows))
	}
	for _, s := range shapes[:min(3, len(shapes))] {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%q: %s rows, %s bytes each on average, %s owners, the heaviest with %s rows",
			s.Key, thousands(s.Rows), thousands(s.EntryBytes), thousands(len(s.Owners)), thousands(s.Owners[0].Rows)))
	}
	return v
}
