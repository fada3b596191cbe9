package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const logTimeMax = 5 * time.Second

// readLog adds what the emulator logged since the last look. It reports false
// when the endpoint has no such log.
func (c *console) readLog(ctx context.Context) (emulator bool, err error) {
	if c.options.endpoint == "" || !c.options.local() {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, logTimeMax)
	defer cancel()
	address := fmt.Sprintf("%s/admin/log?since=%d", strings.TrimRight(c.options.endpoint, "/"), c.since)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return true, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return false, nil
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, logLineBytesMax)
	wanted := diagnose{table: c.options.table, index: c.options.index}
	for lines.Scan() {
		var l struct {
			Sequence uint64
			logLine
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return true, err
		}
		c.since = max(c.since, l.Sequence)
		for _, e := range l.events() {
			if wanted.wants(e) {
				c.recorder.Observe(e)
			}
		}
	}
	return true, lines.Err()
}
