package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/shard"
)

// ErrProbe says that the probe row did not come out on the index as it should:
// the index, its key types or a permission is not what a move needs. Correct
// what the error names.
var ErrProbe = errors.New("migrate: probe row did not move")

// ProbeReport is how long the index took to follow the probe row.
type ProbeReport struct {
	Appeared time.Duration `json:"appeared"`
	Forth    time.Duration `json:"forth"`
	Back     time.Duration `json:"back"`
}

// probeBase is spelled by no layout, so no reader meets the probe.
const probeBase = "HOTSPLIT-PROBE"

// probeTimeMax is how long the index may take to follow.
const probeTimeMax = 30 * time.Second

// Probe moves a row of its own both ways, as a move would: the way back is proved
// before anybody goes forward. The row is deleted in the end.
func (r *Runner) Probe(ctx context.Context) (ProbeReport, error) {
	var report ProbeReport
	if err := r.look(ctx); err != nil {
		return report, err
	}
	p, err := r.newProbe()
	if err != nil {
		return report, err
	}
	e := newEdit()
	for name, value := range p.item {
		if _, isKey := p.row.key[name]; !isKey {
			e.top(name, value)
		}
	}
	in := e.input(r.spec.Table, p.row.key)
	in.ReturnValues = ""
	if _, err := r.client.UpdateItem(ctx, in); err != nil {
		return report, fmt.Errorf("write the probe row: %w", err)
	}
	err = p.thereAndBack(ctx, &report)
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeMax)
	defer cancel()
	_, gone := r.client.DeleteItem(clean, &dynamodb.DeleteItemInput{TableName: &r.spec.Table, Key: p.row.key})
	if gone != nil {
		gone = fmt.Errorf("delete the probe row: %w", gone)
	}
	return report, errors.Join(err, gone)
}

type probe struct {
	r    *Runner
	item Item
	row  row
	here string
	over string
}

func (r *Runner) newProbe() (*probe, error) {
	from, to := r.spec.From, r.spec.To
	from.Base, to.Base = probeBase, probeBase
	if to.Count == 0 {
		to, from = from, to
	}
	const owner = "hotsplit-probe"
	p := &probe{r: r, here: from.Key(owner), over: to.Key(owner)}
	if p.here == p.over {
		p.over = to.Key(owner + "-2") // the two counts agree on this owner
	}
	p.item = r.shelf.at("PROBE")
	p.item[r.spec.From.PartitionKey] = str(p.here)
	if p.item[r.spec.Owner] == nil {
		p.item[r.spec.Owner] = str(owner)
	}
	p.row = row{key: only(r.spec.Key, p.item)}
	p.row.owner, _ = textOf(p.item[r.spec.Owner]) // which may be a key of the base table
	if r.spec.From.SortKey == "" {
		return p, nil
	}
	switch r.catalog.sortType {
	case types.ScalarAttributeTypeN:
		p.row.sort = num(0)
	case types.ScalarAttributeTypeB:
		p.row.sort = &types.AttributeValueMemberB{Value: []byte{0}}
	case types.ScalarAttributeTypeS:
		sort, err := shard.SortKey(owner, time.Unix(0, 0))
		if err != nil {
			return nil, err
		}
		p.row.sort = str(sort)
	}
	p.item[r.spec.From.SortKey] = p.row.sort
	return p, nil
}

func (p *probe) thereAndBack(ctx context.Context, report *ProbeReport) (err error) {
	if report.Appeared, err = p.await(ctx, "", p.here); err != nil {
		return err
	}
	if report.Forth, err = p.move(ctx, p.here, p.over); err != nil {
		return err
	}
	report.Back, err = p.move(ctx, p.over, p.here)
	return err
}

func (p *probe) move(ctx context.Context, from, to string) (time.Duration, error) {
	p.row.at, p.row.to = from, to
	update, condition, names, values := rowEdit(p.r.spec, &p.row, p.r.spec.From.PartitionKey)
	_, err := p.r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &p.r.spec.Table, Key: p.row.key,
		UpdateExpression: update, ConditionExpression: condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if err != nil {
		return 0, fmt.Errorf("move the probe row to %s: %w", to, err)
	}
	return p.await(ctx, from, to)
}

// await waits until the index shows the probe under to and not under from.
func (p *probe) await(ctx context.Context, from, to string) (time.Duration, error) {
	p.row.at, p.row.to = from, to
	began := time.Now()
	for round := 1; ; round++ {
		missing, err := p.r.unsettled(ctx, []*row{&p.row})
		if err != nil {
			return 0, err
		}
		if len(missing) == 0 {
			return time.Since(began), nil
		}
		if time.Since(began) > probeTimeMax {
			return 0, fmt.Errorf("%w: after %v index %s does not show it under %s alone", ErrProbe, probeTimeMax, p.r.spec.From.Index, to)
		}
		if err := pauseAfter(ctx, round); err != nil {
			return 0, err
		}
	}
}
