package fanout

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/shard"
)

// Item is a row as the SDK delivers it.
type Item = map[string]types.AttributeValue

// Table names the base table and the attributes of its primary key, the
// partition key first.
type Table struct {
	Name string
	Key  []string
}

// MovingRow is a row whose index key may change right now.
type MovingRow struct {
	Key   Item // the base primary key
	Owner string
}

// View is what one read goes by.
type View struct {
	Routing shard.Routing
	Moving  []MovingRow // read strongly from the base table
	InOrder bool        // ask Routing.Read[0] before Routing.Read[1]: nobody says what is moving
	Version int64       // the source's own mark of this view; fanout hands it back to Holds
}

// Source says by which view to read. It is asked from several goroutines.
type Source interface {
	// View is no older than the staleness bound. An error means that nobody knows
	// how to read now; it ends the call.
	View(context.Context) (View, error)
	// Holds is asked once an answer is there. True says that the view was right
	// while it was read: still within the bound, or fetched again and unchanged.
	// False has it read again under a new view.
	Holds(context.Context, View) (bool, error)
}

// Static is the source of a program whose routing changes by deploys alone.
// See the package comment for what it cannot promise with two layouts.
func Static(r shard.Routing) Source {
	return static{View{Routing: r, InOrder: len(r.Read) > 1}}
}

type static struct{ view View }

func (s static) View(context.Context) (View, error)        { return s.view, nil }
func (s static) Holds(context.Context, View) (bool, error) { return true, nil }
