package expr

import (
	"sync"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// language is a grammar; a text may be valid in several.
type language uint8

const (
	languageCondition language = iota
	languageUpdate
	languageProjection
)

func (l language) parse(text string) (*tree, *Error) {
	switch l {
	case languageUpdate:
		return parseUpdate(text)
	case languageProjection:
		return parseProjection(text)
	}
	return parseCondition(text)
}

// cacheEntriesMax bounds a Cache. Programs use few texts, and one that builds a
// new text for each request gains nothing from keeping more.
const cacheEntriesMax = 1000

// Cache keeps parsed expressions by their text, so that a text is parsed once
// however many requests carry it. The zero Cache is empty and ready, and safe for
// concurrent use.
type Cache struct {
	mu      sync.RWMutex
	entries map[cacheKey]cacheEntry
}

type cacheKey struct {
	language language
	text     string
}

type cacheEntry struct {
	tree *tree
	err  *Error
}

// Binder gives the placeholders of one request their names and values. Nil maps
// are absent from the request.
func (c *Cache) Binder(names map[string]string, values map[string]attr.Value) *Binder {
	return &Binder{cache: c, names: names, values: values}
}

func (c *Cache) get(l language, text string) (*tree, *Error) {
	key := cacheKey{l, text}
	c.mu.RLock()
	e, found := c.entries[key]
	c.mu.RUnlock()
	if found {
		return e.tree, e.err
	}
	e.tree, e.err = l.parse(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= cacheEntriesMax {
		c.entries = make(map[cacheKey]cacheEntry)
	}
	c.entries[key] = e
	return e.tree, e.err
}
