package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options is the traffic. Base is required.
type Options struct {
	Base     string        // http://HOST:PORT
	Pages    int           // browsers that poll the list and look at renewals
	Poll     time.Duration // of each; 0 means 4 s
	ListOnly bool          // browsers open no renewals
	Inbound  int           // messages a second
	Moves    int           // moves a second
	For      time.Duration // 0 means 60 s
	Token    string        // of writes; "" sends none
	Seed     uint64
	// Sweeps are run over and over beside the rest; nil runs none.
	Sweeps []func(context.Context) error
	Client *http.Client // nil means one with a connection for each browser
}

func (o Options) withDefaults() Options {
	if o.Poll == 0 {
		o.Poll = 4 * time.Second
	}
	if o.For == 0 {
		o.For = time.Minute
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: o.Pages + 32}}
	}
	o.Base = strings.TrimRight(o.Base, "/")
	return o
}

// traffic is a run.
type traffic struct {
	Options
	report *Report
	leases []lease
}

// lease is one renewal that the traffic knows of.
type lease struct {
	LeaseID  string   `json:"leaseId"`
	PersonID string   `json:"personId"`
	ID       string   `json:"id"`
	Version  int64    `json:"version"`
	State    string   `json:"state"`
	Moves    []string `json:"moves"`
}

// Run sends the traffic and says what came back. An error means that there was
// none to speak of: a server that answers badly is in the report.
func Run(ctx context.Context, options Options) (*Report, error) {
	t := &traffic{Options: options.withDefaults(), report: newReport()}
	defer t.Client.CloseIdleConnections()
	if err := t.learn(ctx); err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", t.Base, err)
	}
	limited, cancel := context.WithTimeout(ctx, t.For)
	defer cancel()
	var g errgroup.Group
	for i := range t.Pages {
		g.Go(func() error { t.browse(limited, i); return nil })
	}
	t.paced(limited, &g, t.Inbound, t.say)
	t.paced(limited, &g, t.Moves, t.move)
	for _, sweep := range t.Sweeps {
		g.Go(func() error { t.sweep(limited, sweep); return nil })
	}
	_ = g.Wait() // what failed is counted
	t.report.finish()
	return t.report, ctx.Err()
}

// learn reads the whole list once, to know whom to look at.
func (t *traffic) learn(ctx context.Context) error {
	cursor := ""
	for range learnPagesMax {
		var page struct {
			Items []lease `json:"items"`
			Next  string  `json:"nextCursor"`
		}
		answer, err := t.send(ctx, http.MethodGet, "/leasing/renewals?limit=100&view=all&cursor="+cursor, nil, "")
		if err != nil {
			return err
		}
		if answer.status != http.StatusOK {
			return fmt.Errorf("status %d", answer.status)
		}
		if err := json.Unmarshal(answer.body, &page); err != nil {
			return err
		}
		t.leases = append(t.leases, page.Items...)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(t.leases) == 0 {
		return errors.New("it is empty")
	}
	return nil
}

const learnPagesMax = 50

// browse is one browser: it polls the list and now and then opens a renewal.
func (t *traffic) browse(ctx context.Context, i int) {
	chance := rand.New(rand.NewPCG(t.Seed, uint64(i)))
	tag := ""
	wait := time.Duration(chance.Int64N(int64(t.Poll)))
	for pause(ctx, wait) {
		if answer, ok := t.ask(ctx, "list", http.MethodGet, "/leasing/renewals", nil, tag); ok && answer.tag != "" {
			tag = answer.tag
		}
		if !t.ListOnly && chance.IntN(3) == 0 {
			t.ask(ctx, "detail", http.MethodGet, "/leasing/renewals/"+t.any(chance).LeaseID, nil, "")
		}
		wait = t.Poll*85/100 + time.Duration(chance.Int64N(int64(t.Poll*3/10)))
	}
}

func (t *traffic) any(chance *rand.Rand) lease { return t.leases[chance.IntN(len(t.leases))] }

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// paced sends perSecond requests a second, each on its own, so that a slow
// answer does not slow the traffic down.
func (t *traffic) paced(ctx context.Context, g *errgroup.Group, perSecond int, send func(context.Context, *rand.Rand, int)) {
	if perSecond <= 0 {
		return
	}
	g.Go(func() error {
		tick := time.NewTicker(time.Second / time.Duration(perSecond))
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				g.Go(func() error { send(ctx, rand.New(rand.NewPCG(t.Seed, uint64(n)<<8)), n); return nil })
			}
		}
	})
}

// say is a message without an intent: it costs what any message costs and moves
// nothing.
func (t *traffic) say(ctx context.Context, chance *rand.Rand, n int) {
	who := t.any(chance)
	body := map[string]any{"id": fmt.Sprintf("load-%d-%d", t.Seed, n), "personId": who.PersonID, "leaseId": who.LeaseID, "text": "hello"}
	t.ask(ctx, "inbound", http.MethodPost, "/inbound/message", body, "")
}

// move adds a note to a renewal: a write on its index key.
func (t *traffic) move(ctx context.Context, chance *rand.Rand, n int) {
	who := t.any(chance)
	answer, ok := t.ask(ctx, "detail", http.MethodGet, "/leasing/renewals/"+who.LeaseID, nil, "")
	if !ok || json.Unmarshal(answer.body, &who) != nil {
		return
	}
	body := map[string]any{"op": fmt.Sprintf("load.%d.%d", t.Seed, n), "sagaId": who.ID, "version": who.Version, "text": "looked at it"}
	t.ask(ctx, "move", http.MethodPost, "/leasing/renewals/"+who.LeaseID+"/moves", body, "")
}

func (t *traffic) sweep(ctx context.Context, sweep func(context.Context) error) {
	for pause(ctx, sweepPause) {
		began := time.Now()
		err := sweep(ctx)
		if ctx.Err() == nil {
			t.report.add("sweep", time.Since(began), statusOf(err), false)
		}
	}
}

const sweepPause = 2 * time.Second

func statusOf(err error) int {
	if err != nil {
		return 0
	}
	return http.StatusOK
}

type answer struct {
	status int
	body   []byte
	tag    string
	stale  bool
}

// staleAfter is the age from which on the list counts as an old answer.
const staleAfter = 15

// ask sends a request and counts what came of it.
func (t *traffic) ask(ctx context.Context, route, method, path string, body any, tag string) (answer, bool) {
	began := time.Now()
	a, err := t.send(ctx, method, path, body, tag)
	if ctx.Err() != nil {
		return a, false // cut off by the end of the run
	}
	if err != nil {
		a.status = 0
	}
	t.report.add(route, time.Since(began), a.status, a.stale)
	return a, err == nil && a.status < 400
}

func (t *traffic) send(ctx context.Context, method, path string, body any, tag string) (answer, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, t.Base+path, reader)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	if t.Token != "" {
		r.Header.Set("Authorization", "Bearer "+t.Token)
	}
	response, err := t.Client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 8<<20))
	age := 0
	_, _ = fmt.Sscan(response.Header.Get("Age"), &age)
	return answer{response.StatusCode, text, response.Header.Get("ETag"), age > staleAfter}, err
}
