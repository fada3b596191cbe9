package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

// ErrSnapshot says that a snapshot cannot be compared with. Do not retry; take
// another.
var ErrSnapshot = errors.New("migrate: snapshot of another shape")

// Snapshot is what readers see of some owners, to be held against what they see
// later.
type Snapshot struct {
	Format int             `json:"format"`
	Name   string          `json:"name"`
	Table  string          `json:"table"`
	Phase  string          `json:"phase"`
	At     string          `json:"at"`
	Seed   uint64          `json:"seed,omitempty"`
	Owners []SnapshotOwner `json:"owners"`
}

// SnapshotOwner is one owner with what the index showed of it.
type SnapshotOwner struct {
	Owner string        `json:"owner"`
	Rows  []SnapshotRow `json:"rows"`
}

// SnapshotRow is one row: its base key, and a digest of all that the index
// carries but for the index's partition key, which a move changes.
type SnapshotRow struct {
	Key    []SnapshotValue `json:"key"`
	Digest string          `json:"digest"`
}

// SnapshotValue is one attribute of a base key.
type SnapshotValue struct {
	Type string `json:"type"` // S, N or B
	Text string `json:"text"` // B in base64
}

// SnapshotOptions says of whom. Owners names them; otherwise Sample owners are
// drawn by Seed from the base table, 100 where Sample is 0.
type SnapshotOptions struct {
	Owners []string
	Sample int
	Seed   uint64
}

const snapshotSample = 100

// TakeSnapshot notes what readers see of a number of owners now.
func TakeSnapshot(ctx context.Context, client ReadAPI, spec Spec, opts SnapshotOptions) (Snapshot, error) {
	v, err := newVerification(ctx, client, spec, VerifyOptions{Seed: opts.Seed})
	if err != nil {
		return Snapshot{}, err
	}
	owners := opts.Owners
	if len(owners) == 0 {
		n := opts.Sample
		if n <= 0 {
			n = snapshotSample
		}
		if owners, err = v.drawOwners(ctx, n); err != nil {
			return Snapshot{}, err
		}
	}
	s := Snapshot{
		Format: Format, Name: v.spec.Name, Table: v.spec.Table, Phase: string(v.record.Phase),
		At: stamp(), Seed: opts.Seed, Owners: make([]SnapshotOwner, len(owners)),
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(walkInFlight)
	for i, owner := range owners {
		g.Go(func() error {
			rows, err := v.shown(gctx, owner)
			s.Owners[i] = SnapshotOwner{Owner: owner, Rows: rows}
			return err
		})
	}
	return s, g.Wait()
}

// drawOwners chooses owners as a sampled verification does.
func (v *verification) drawOwners(ctx context.Context, n int) ([]string, error) {
	l := &lottery{n: n, seed: v.opts.Seed, byOwner: map[string]*sampled{}}
	err := v.scan(ctx, func(item Item) {
		if r, class := v.sieve.read(item); r != nil && class == "" {
			l.entry(r.owner)
		}
	})
	return slices.Sorted(maps.Keys(l.byOwner)), err
}

// shown is what a reader sees of one owner, each row once, ordered by key.
func (v *verification) shown(ctx context.Context, owner string) ([]SnapshotRow, error) {
	rows := map[string]SnapshotRow{}
	for _, key := range keysFor(v.routing.Read, owner) {
		err := v.queryKey(ctx, key, v.prefix(owner), func(item Item) {
			if told, ok := textOf(item[v.spec.Owner]); ok && told != owner {
				return
			}
			rows[keyText(v.spec.Key, item)] = SnapshotRow{Key: v.snapshotKey(item), Digest: v.durableDigest(item)}
		})
		if err != nil {
			return nil, err
		}
	}
	sorted := make([]SnapshotRow, 0, len(rows))
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		sorted = append(sorted, rows[key])
	}
	return sorted, nil
}

// durableDigest is the same in every process, unlike a digester's.
func (v *verification) durableDigest(item Item) string {
	keep := func(name string) bool {
		return name != v.record.From.PartitionKey && v.catalog.projected(name)
	}
	sum := sha256.Sum256(appendItem(nil, item, keep))
	return hex.EncodeToString(sum[:16])
}

func (v *verification) snapshotKey(item Item) []SnapshotValue {
	key := make([]SnapshotValue, len(v.spec.Key))
	for i, name := range v.spec.Key {
		kind, text := scalar(item[name])
		if n, ok := item[name].(*types.AttributeValueMemberN); ok {
			text = n.Value
		}
		if kind == 'B' {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		key[i] = SnapshotValue{Type: string(kind), Text: text}
	}
	return key
}

func (v SnapshotValue) attribute() (types.AttributeValue, error) {
	switch v.Type {
	case "S":
		return str(v.Text), nil
	case "N":
		return &types.AttributeValueMemberN{Value: v.Text}, nil
	case "B":
		b, err := base64.StdEncoding.DecodeString(v.Text)
		if err != nil {
			return nil, fmt.Errorf("%w: key %q: %w", ErrSnapshot, v.Text, err)
		}
		return &types.AttributeValueMemberB{Value: b}, nil
	}
	return nil, fmt.Errorf("%w: key of type %q", ErrSnapshot, v.Type)
}

// ParseSnapshot reads a snapshot that was stored as JSON.
func ParseSnapshot(data []byte) (Snapshot, error) {
	var s Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if s.Format != Format {
		return s, fmt.Errorf("%w: format %d, this release knows %d", ErrSnapshot, s.Format, Format)
	}
	return s, nil
}

// VerifyAgainst holds what readers see now against a snapshot. A row that is no
// longer shown, or shown otherwise, is right where the base table says the same:
// users go on working. It is a defect where it does not.
func VerifyAgainst(ctx context.Context, client ReadAPI, spec Spec, s Snapshot, opts VerifyOptions) (Report, error) {
	v, err := newVerification(ctx, client, spec, opts)
	if err != nil {
		return Report{}, err
	}
	if s.Table != v.spec.Table {
		return Report{}, fmt.Errorf("%w: it is of table %q", ErrSnapshot, s.Table)
	}
	err = v.against(ctx, s)
	return v.finish(err), err
}

func (v *verification) against(ctx context.Context, s Snapshot) error {
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(walkInFlight)
	for _, owner := range s.Owners {
		g.Go(func() error {
			rows, err := v.shown(gctx, owner.Owner)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			return v.holdAgainst(owner, rows)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return v.recheck(ctx)
}

func (v *verification) holdAgainst(then SnapshotOwner, now []SnapshotRow) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.owners[v.digest.text(then.Owner)] = false
	v.report.Rows.Checked += int64(len(then.Rows))
	shown := map[string]string{}
	for _, row := range now {
		shown[fmt.Sprint(row.Key)] = row.Digest
	}
	for _, row := range then.Rows {
		if shown[fmt.Sprint(row.Key)] == row.Digest {
			continue
		}
		if len(row.Key) != len(v.spec.Key) {
			return fmt.Errorf("%w: a key of %d attributes", ErrSnapshot, len(row.Key))
		}
		key := Item{}
		for i, name := range v.spec.Key {
			value, err := row.Key[i].attribute()
			if err != nil {
				return err
			}
			key[name] = value
		}
		v.suspects = append(v.suspects, &suspect{key: key, owner: then.Owner, pinned: true})
	}
	return nil
}
