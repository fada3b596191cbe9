package dynamostore

import (
	"context"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// Routing says how sagas are read and what new ones are stamped with. A process
// that takes part in moves has one made of a migrate.Watcher.
type Routing interface {
	fanout.Source
	// Stamped hands write the attribute and the value that a new row of owner
	// carries, and returns once the written row's stamp is confirmed. rowKey is
	// the row's base primary key.
	Stamped(ctx context.Context, owner string, rowKey fanout.Item, write func(attribute, key string) error) error
}

// Static is the routing of a program whose layout changes by deploys alone.
func Static(r shard.Routing) Routing { return static{fanout.Static(r), r} }

type static struct {
	fanout.Source
	routing shard.Routing
}

func (s static) Stamped(_ context.Context, owner string, _ fanout.Item, write func(attribute, key string) error) error {
	if err := s.routing.Write.CheckOwner(owner); err != nil {
		return err
	}
	return write(s.routing.Write.PartitionKey, s.routing.Key(owner))
}
