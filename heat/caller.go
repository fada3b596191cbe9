package heat

import (
	"context"
	"runtime"
	"strings"
	"sync"
)

type callerKey struct{}

// WithCaller labels the requests that are made with the context: a route, a
// sweep, a job. Without a label the calling package is named.
func WithCaller(ctx context.Context, label string) context.Context {
	return context.WithValue(ctx, callerKey{}, label)
}

type indexKey struct{ index string }

// WithIndexKey says which key of an index the writes with the context touch. An
// UpdateItem that leaves the index key alone still writes the index, and the
// request does not show where.
func WithIndexKey(ctx context.Context, index, key string) context.Context {
	return context.WithValue(ctx, indexKey{index}, key)
}

func indexKeyOf(ctx context.Context, index string) string {
	key, _ := ctx.Value(indexKey{index}).(string)
	return key
}

const framesMax = 40

// packages remembers the package of each program counter, "" for the SDK's and
// our own.
var packages sync.Map // uintptr → string

func caller(ctx context.Context) string {
	if label, ok := ctx.Value(callerKey{}).(string); ok {
		return label
	}
	var pcs [framesMax]uintptr
	for _, pc := range pcs[:runtime.Callers(3, pcs[:])] {
		if name := packageOf(pc); name != "" {
			return name
		}
	}
	return ""
}

func packageOf(pc uintptr) string {
	if name, ok := packages.Load(pc); ok {
		return name.(string)
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	name := packageName(frame.Function)
	packages.Store(pc, name)
	return name
}

// packageName is the package in a function's full name, "" for packages that
// only carry other packages' requests.
func packageName(function string) string {
	slash := strings.LastIndexByte(function, '/')
	dot := strings.IndexByte(function[slash+1:], '.')
	if dot < 0 {
		return ""
	}
	name := function[:slash+1+dot]
	for _, carrier := range carriers {
		if name == carrier || strings.HasPrefix(name, carrier+"/") {
			return ""
		}
	}
	return name
}

var carriers = []string{
	"runtime",
	"iter",
	"github.com/aws",
	"golang.org/x/sync",
	"github.com/hotsplit/hotsplit/heat",
	"github.com/hotsplit/hotsplit/fanout",
}
