package app

import (
	"context"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
)

// Watched is the routing of a process that takes part in a move.
func Watched(w *migrate.Watcher) dynamostore.Routing { return watched{w} }

type watched struct{ *migrate.Watcher }

func (w watched) Stamped(ctx context.Context, owner string, rowKey fanout.Item, write func(attribute, key string) error) error {
	stamp, err := w.Stamp(ctx, owner)
	if err != nil {
		return err
	}
	if err := write(stamp.Attribute, stamp.Key); err != nil {
		return err
	}
	_, err = w.Confirm(ctx, stamp, rowKey)
	return err
}
