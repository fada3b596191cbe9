package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrCheckpoint says that the progress that is stored was made with another
// number of segments. Do not retry; start with the number that the error names.
var ErrCheckpoint = errors.New("migrate: checkpoint of another shape")

// segmentsMax bounds the segments of a base scan.
const segmentsMax = 64

// Checkpoint is how far a segment of a pass has come: everything up to After is
// done or recorded as failed.
type Checkpoint struct {
	Format     int    `json:"format"`
	Token      int64  `json:"token"`
	Generation int64  `json:"generation"` // of the phase whose work it is
	Pass       int    `json:"pass"`       // passes are numbered within a phase
	Source     Source `json:"source"`
	Segment    int    `json:"segment"`
	Segments   int    `json:"segments"`
	Done       bool   `json:"done"`
	Found      int64  `json:"found"` // rows that had to move, up to After
	After      Item   `json:"-"`     // exclusive start key; stored beside the rest
}

// checkpointAfter is the body's field for Checkpoint.After.
const checkpointAfter = "after"

func (c Checkpoint) name() string { return fmt.Sprintf("%s%04d", checkpointItem, c.Segment) }

// loadCheckpoints reads the segments of the newest pass of this phase; none says
// that the phase begins.
func (r *Runner) loadCheckpoints(ctx context.Context) ([]Checkpoint, error) {
	items, err := r.shelf.list(ctx, r.client, checkpointItem)
	if err != nil {
		return nil, err
	}
	var newest []Checkpoint
	for _, item := range items {
		var c Checkpoint
		if err := decode(item, &c); err != nil {
			return nil, fmt.Errorf("read checkpoints of %s: %w", r.shelf.prefix, err)
		}
		if c.Format != Format {
			return nil, fmt.Errorf("read checkpoints of %s: %w: %d", r.shelf.prefix, ErrFormat, c.Format)
		}
		if c.Generation != r.record.Generation {
			continue // of an earlier phase
		}
		if m, ok := item[body].(*types.AttributeValueMemberM); ok {
			if after, ok := m.Value[checkpointAfter].(*types.AttributeValueMemberM); ok {
				c.After = after.Value
			}
		}
		if len(newest) > 0 && c.Pass > newest[0].Pass {
			newest = nil
		}
		if len(newest) == 0 || c.Pass == newest[0].Pass {
			newest = append(newest, c)
		}
	}
	return newest, nil
}

// saveCheckpoint stores how far a segment has come, unless a runner with a newer
// lease did so already.
func (r *Runner) saveCheckpoint(ctx context.Context, c Checkpoint) error {
	c.Format, c.Token, c.Generation = Format, r.token, r.record.Generation
	b, err := encode(c)
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", c.name(), r.shelf.prefix, err)
	}
	if m, ok := b.(*types.AttributeValueMemberM); ok && len(c.After) > 0 {
		m.Value[checkpointAfter] = &types.AttributeValueMemberM{Value: c.After}
	}
	if err := r.shelf.enter(ctx, r.client, "ADD", c.name()); err != nil {
		return err
	}
	e := newEdit()
	token := e.path("token")
	e.conditions = append(e.conditions, fmt.Sprintf("(attribute_not_exists(%s) OR %s <= %s)", e.name(body), token, e.value(r.token)))
	_, err = sendEdit(ctx, r.client, r.shelf, c.name(), e.top(body, b))
	if errors.Is(err, errCondition) {
		return fmt.Errorf("%w: %s", ErrLeaseLost, r.shelf.prefix)
	}
	return err
}

// page is a stretch of a segment that was read. It is done when none of its rows
// is left to move.
type page struct {
	position Checkpoint // once the page is done
	left     int        // rows still to move
	rows     int        // that had to move
}

// trail follows pages in the order in which they were read and stores how far
// they are done. It stores no more than it must: a page of few rows waits for
// the next.
type trail struct {
	pages   []*page
	last    *Checkpoint
	rows    int // moved since the last store
	savedAt time.Time
}

const (
	trailRows  = 150         // moved rows after which progress is stored: under 1 % of the writes
	trailEvery = time.Second // or time, where there is little to move
)

func (t *trail) add(p *page) { t.pages = append(t.pages, p) }

// advance drops the pages that are done and says whether progress is worth
// storing: the end of a segment always is.
func (t *trail) advance() (store []Checkpoint) {
	for len(t.pages) > 0 && t.pages[0].left == 0 {
		p := t.pages[0]
		t.pages = t.pages[1:]
		t.rows += p.rows
		if p.position.Done {
			store, t.last, t.rows = append(store, p.position), nil, 0
			continue
		}
		t.last = &p.position
	}
	if t.last != nil && (t.rows >= trailRows || time.Since(t.savedAt) >= trailEvery) {
		store, t.last, t.rows = append(store, *t.last), nil, 0
	}
	if len(store) > 0 {
		t.savedAt = time.Now()
	}
	return store
}
