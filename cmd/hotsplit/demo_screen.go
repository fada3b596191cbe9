package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/hotsplit/hotsplit/cmd/hotsplit/demo"
)

// demoScreen shows a demonstration to the person at the terminal: a bar for each
// of its parts. Where nobody sits, it writes a line a stage and then one every
// few seconds.
type demoScreen struct {
	quiet bool
	out   io.Writer
	bars  *mpb.Progress

	mu    sync.Mutex
	stage string
	bar   *mpb.Bar
	text  *atomic.Pointer[string] // of bar; the bars' own goroutine reads it, without mu
	said  time.Time
}

const sayEvery = 2 * time.Second

func newDemoScreen(out io.Writer, quiet bool) *demoScreen {
	s := &demoScreen{out: out, quiet: quiet}
	if file, ok := out.(*os.File); ok && !quiet && isTerminal(file) {
		s.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(24), mpb.WithRefreshRate(150*time.Millisecond))
	}
	return s
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

var stageNames = map[string]string{
	"load": "load rows", "before": "one hot key", "during": "move", "after": "shard keys", "verify": "verify",
}

func (s *demoScreen) show(p demo.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet {
		return
	}
	fresh := p.Stage != s.stage
	s.stage = p.Stage
	if s.bars == nil {
		s.say(p, fresh)
		return
	}
	if fresh {
		s.finish()
		s.begin(p.Stage)
	}
	text := describe(p)
	s.text.Store(&text)
	s.bar.SetCurrent(percent(p))
}

func (s *demoScreen) begin(stage string) {
	text := &atomic.Pointer[string]{}
	text.Store(new(string))
	s.text = text
	s.bar = s.bars.AddBar(100,
		mpb.PrependDecorators(decor.Name(fmt.Sprintf("%-12s", stageNames[stage]))),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + *text.Load() })))
}

func (s *demoScreen) say(p demo.Progress, fresh bool) {
	if !fresh && time.Since(s.said) < sayEvery {
		return
	}
	s.said = time.Now()
	fmt.Fprintf(s.out, "%-12s %s\n", stageNames[p.Stage], describe(p))
}

// percent stays below 100 until the stage is left, because a full bar is final.
func percent(p demo.Progress) int64 {
	switch {
	case p.Of > 0:
		return min(99, int64(100*p.Seconds/p.Of))
	case p.All > 0:
		return min(99, int64(100*p.Done/p.All))
	default:
		return 0
	}
}

func describe(p demo.Progress) string {
	switch p.Stage {
	case "load":
		return fmt.Sprintf("%d of %d", p.Done, p.All)
	case "verify":
		return fmt.Sprintf("%d rows", p.All)
	}
	text := fmt.Sprintf("%5.0f requests/s, %d throttled", p.Rate, p.Throttled)
	if p.Hottest != "" {
		text += fmt.Sprintf(", hottest %s %.0f units/s", p.Hottest, p.Units)
	}
	if p.Stage == "during" {
		return fmt.Sprintf("%d of %d rows, %s, %s", p.Done, p.All, p.Detail, text)
	}
	return fmt.Sprintf("%d of %d s, %s", p.Seconds, p.Of, text)
}

func (s *demoScreen) finish() {
	if s.bar != nil {
		s.bar.SetTotal(100, true)
	}
}

func (s *demoScreen) close() {
	s.mu.Lock()
	s.finish()
	bars := s.bars
	s.mu.Unlock()
	if bars != nil {
		bars.Shutdown()
	}
}
