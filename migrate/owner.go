package migrate

import (
	"errors"

	"github.com/hotsplit/hotsplit/shard"
)

// classOf is why shard refused an owner, "" where it did not.
func classOf(err error) shard.OwnerClass {
	var refused *shard.OwnerError
	if errors.As(err, &refused) {
		return refused.Class
	}
	return ""
}
