package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/emulator"
)

// rig is the application on an emulator of its own.
type rig struct {
	t   *testing.T
	app *app.App
	db  *emulator.DB
	url string
}

func newRig(t *testing.T, options app.Options) *rig {
	t.Helper()
	options.Demo, options.Listen, options.NoSweeps = true, "127.0.0.1:0", true
	options.Poll, options.StaleAfter = time.Second, 3*time.Second
	options.Log = slog.New(slog.DiscardHandler)
	if options.DemoSagas == 0 {
		options.DemoSagas = 60
	}
	if options.Access.Token == "" {
		options.Access.Open = true
	}
	a, err := app.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the application stopped with %v", err)
		}
	})
	r := &rig{t: t, app: a, db: a.Emulator(), url: "http://" + a.Addr()}
	r.eventually("ready", func() bool { return r.get("/readyz", "").StatusCode == http.StatusOK })
	return r
}

const waitMax = 20 * time.Second

// eventually asks until the answer is yes.
func (r *rig) eventually(what string, yes func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), waitMax)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-ctx.Done():
			r.t.Fatalf("never came: %s", what)
		case <-tick.C:
		}
	}
}

type response struct {
	*http.Response
	text string
}

func (r *rig) get(path, accept string) response {
	r.t.Helper()
	return r.send(http.MethodGet, path, nil, "Accept", accept)
}

// send makes a request; headers are names and values in turn.
func (r *rig) send(method, path string, body []byte, headers ...string) response {
	r.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, r.url+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] != "" {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response{answer, string(text)}
}

func (r *rig) postJSON(path string, body any) response {
	r.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.send(http.MethodPost, path, text, "Content-Type", "application/json")
}

type sagaJSON struct {
	ID, LeaseID, PersonID, PersonName, State string
	Version                                  int64
	Moves                                    []string
}

type listJSON struct {
	Items      []sagaJSON
	Total      int
	NextCursor string
	Stale      bool
}

func (r *rig) list(query string) listJSON {
	r.t.Helper()
	answer := r.get("/leasing/renewals"+query, "application/json")
	var list listJSON
	if err := json.Unmarshal([]byte(answer.text), &list); answer.StatusCode != http.StatusOK || err != nil {
		r.t.Fatalf("list%s: %d %v %.300s", query, answer.StatusCode, err, answer.text)
	}
	return list
}

// one is a renewal that stands in a state.
func (r *rig) one(state string) sagaJSON {
	r.t.Helper()
	list := r.list("?state=" + state)
	if len(list.Items) == 0 {
		r.t.Fatalf("no renewal is %s", state)
	}
	return list.Items[0]
}

// browser is one tab in headless Chromium.
type browser struct {
	*rig
	ctx context.Context
}

func chromium(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("HOTSPLIT_NO_SKIP") != "" {
			t.Fatal("chromium is missing")
		}
		t.Skip("chromium is missing")
	}
	return path
}

// shared is the one Chromium of all tests; each test has tabs of its own.
var shared struct {
	sync.Once
	ctx  context.Context
	stop func()
	err  error
}

func startChromium(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(90*time.Second), chromedp.Flag("disable-background-networking", true), chromedp.Flag("no-first-run", true))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	shared.ctx, shared.stop = ctx, func() { stop(); stopAllocator() }
	shared.err = chromedp.Do(ctx)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

// browse opens a tab.
func (r *rig) browse(width, height int64) *browser {
	r.t.Helper()
	path := chromium(r.t)
	shared.Do(func() { startChromium(path) })
	if shared.err != nil {
		r.t.Fatal(shared.err)
	}
	ctx, cancel := chromedp.NewContext(shared.ctx)
	r.t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		r.t.Fatal(err)
	}
	ctx, end := context.WithTimeout(ctx, 90*time.Second)
	r.t.Cleanup(end)
	b := &browser{rig: r, ctx: ctx}
	b.do(chromedp.EmulateViewport(width, height))
	return b
}

type step = chromedp.Action[chromedp.Void]

func (b *browser) do(steps ...step) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.shoot("failed-" + strings.ReplaceAll(b.t.Name(), "/", "-"))
		b.t.Fatal(err)
	}
}

// dark has the page drawn as at night.
func (b *browser) dark() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		return err
	}))
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url+path), chromedp.WaitReady("#main"))
}

// js runs a script whose value does not matter.
func js(script string) step {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Evaluate[bool]("(() => { "+script+"; return true })()")(ctx, t)
		return chromedp.Void{}, err
	}
}

// eval is what a script finds on the page.
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.shoot("failed-" + strings.ReplaceAll(b.t.Name(), "/", "-"))
		b.t.Fatalf("%s: %v", script, err)
	}
	return found
}

// holds waits until a script finds something true. A page that is just being
// replaced is no answer.
func (b *browser) holds(what, script string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), waitMax)
	defer cancel()
	for ctx.Err() == nil {
		if yes, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+script+")")); err == nil && yes {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	b.shoot("failed-" + strings.ReplaceAll(b.t.Name(), "/", "-"))
	b.t.Fatalf("never came: %s", what)
}

func artifacts() string {
	if dir := os.Getenv("HOTSPLIT_ARTIFACTS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "artifacts", "renewald")
}

// shoot keeps a picture of the page as it is.
func (b *browser) shoot(name string) {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Logf("no picture %s: %v", name, err)
		return
	}
	if err := os.MkdirAll(artifacts(), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(artifacts(), name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
