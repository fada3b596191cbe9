package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/migrate"
)

// hostile is a key value that a page must show as text.
const hostile = `<img src=x onerror="document.title='owned'">`

// stage is an emulator under load with a move that has begun, and a console.
type stage struct {
	endpoint string
	spec     string
	address  string // the console's, without the token
	token    string
}

// caller is a client that the emulator's log knows by name.
func (s stage) caller(name string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(s.endpoint), Credentials: credentials.NewStaticCredentialsProvider(name, "x", ""),
	})
}

func openStage(t *testing.T, flags ...string) stage {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	server := httptest.NewServer(awsjson.Handler(emulator.New(emulator.Options{Seed: 1})))
	t.Cleanup(func() { cancel(); running.Wait(); server.Close() })
	s := stage{endpoint: server.URL, spec: filepath.Join(t.TempDir(), "hotsplit.yaml")}
	openSagas(t, s.caller("loader"), 60, 1000, func(int) {})
	spec := sagaSpec(t)
	if err := os.WriteFile(s.spec, []byte(spellSpec(spec, nil)), 0o600); err != nil {
		t.Fatal(err)
	}
	bounds := migrate.Bounds{Poll: 100 * time.Millisecond, Stale: 400 * time.Millisecond, Settle: 200 * time.Millisecond}
	runner, err := migrate.NewRunner(s.caller("starter"), spec, migrate.Options{Holder: "starter", Bounds: bounds, Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := runner.Release(ctx); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"web-1", "worker-1"} {
		member, err := migrate.Watch(ctx, s.caller(name), spec, migrate.WatchOptions{Member: name, Role: "reader", Version: "2.0"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { member.Close() })
	}
	for _, key := range []string{"RenewalSaga", hostile} {
		running.Go(func() { s.load(ctx, key) })
	}
	s.console(t, ctx, &running, flags)
	return s
}

// load asks one key as a list page does until ctx ends.
func (s stage) load(ctx context.Context, key string) {
	client := s.caller("renewals-list")
	for i := 0; ctx.Err() == nil; i++ {
		_, _ = client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("propflow"), IndexName: aws.String("gsi4"), KeyConditionExpression: aws.String("GSI4PK = :p"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: key}},
		})
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *stage) console(t *testing.T, ctx context.Context, running *sync.WaitGroup, flags []string) {
	t.Helper()
	out, in := io.Pipe()
	root := newRootCmd()
	root.SetArgs(append([]string{"console", "--listen", "127.0.0.1:0", "--json", "--endpoint", s.endpoint, "--spec", s.spec}, flags...))
	root.SetOut(in)
	running.Go(func() { in.CloseWithError(root.ExecuteContext(ctx)) })
	var told struct{ Address string }
	if err := json.NewDecoder(out).Decode(&told); err != nil {
		t.Fatal(err)
	}
	s.address, s.token, _ = strings.Cut(told.Address, "#token=")
}

func (s stage) post(t *testing.T, path, token, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Hotsplit-Token", token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

func TestConsoleRefusesActions(t *testing.T) {
	looking := openStage(t)
	if code := looking.post(t, "act", "", `{"verb":"pause"}`); code != http.StatusForbidden {
		t.Errorf("a console that only looks answers %d to an action", code)
	}
	acting := openStage(t, "--allow-actions", "--token", "secret")
	for _, c := range []struct {
		token, body string
		code        int
	}{
		{"", `{"verb":"pause"}`, http.StatusForbidden},
		{"wrong", `{"verb":"pause"}`, http.StatusForbidden},
		{"secret", `{"verb":"drop"}`, http.StatusConflict},
		{"secret", `{"verb":"advance"}`, http.StatusConflict},
		{"secret", `{"verb":"rollback","sure":"no"}`, http.StatusConflict},
		{"secret", `{"verb":"set","argument":"budget=many"}`, http.StatusConflict},
		{"secret", `nonsense`, http.StatusBadRequest},
		{"secret", `{"verb":"set","argument":"budget=50"}`, http.StatusAccepted},
	} {
		if code := acting.post(t, "act", c.token, c.body); code != c.code {
			t.Errorf("token %q, %s: %d, want %d", c.token, c.body, code, c.code)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, acting.address+"state", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example"
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign host name is answered with %d", answer.StatusCode)
	}
}

// browser opens headless Chromium, or skips where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("HOTSPLIT_NO_SKIP") != "" {
			t.Fatal("chromium is missing")
		}
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.WSURLReadTimeout(time.Minute))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(stop)
	ctx, end := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(end)
	return ctx
}

// shot saves a screenshot where HOTSPLIT_SHOTS says, for eyes.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("HOTSPLIT_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
}

// until waits for an expression to be true in the page.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Minute))(ctx, t); err != nil {
			return fmt.Errorf("wait for %s: %w", expression, err)
		}
		return nil
	})
}

func evaluated[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// TestConsoleInABrowser drives the page with the keyboard alone, during a move
// under load.
func TestConsoleInABrowser(t *testing.T) {
	ctx := browser(t)
	s := openStage(t, "--allow-actions", "--no-other-processes")
	if err := chromedp.Do(ctx,
		chromedp.EmulateViewport(1280, 900),
		chromedp.Navigate(s.address+"#token="+s.token),
		until(`document.querySelectorAll('#map rect').length > 12 && document.querySelectorAll('#members tr').length === 2`),
		until(`[...document.querySelectorAll('#map text')].some(t => t.textContent.includes('<img'))`),
		chromedp.Focus("#map"),
		chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowUp),
		until(`document.querySelector('#cell').textContent.includes('read and')`),
	); err != nil {
		t.Fatal(err)
	}
	if cell := evaluated[string](t, ctx, `document.querySelector('#cell').textContent`); !strings.Contains(cell, "RenewalSaga") || !strings.Contains(cell, "renewals-list") {
		t.Errorf("the chosen cell says %q, want its key and caller", cell)
	}
	shot(t, ctx, "console-planned")
	if err := chromedp.Do(ctx,
		chromedp.KeyEvent("+"), chromedp.KeyEvent(kb.Escape),
		chromedp.Focus(`[data-verb="advance"]`), chromedp.KeyEvent(kb.Enter),
		until(`document.querySelector('#ask').open`),
		chromedp.KeyEvent("no"), chromedp.KeyEvent(kb.Enter),
		until(`document.querySelector('#running').textContent === 'advance: not confirmed'`),
		chromedp.Focus(`[data-verb="advance"]`), chromedp.KeyEvent(kb.Enter),
		until(`document.querySelector('#ask').open`),
		chromedp.KeyEvent("yes"), chromedp.KeyEvent(kb.Enter),
		until(`document.querySelector('#phases .here').textContent === 'dual-read'`),
		until(`document.querySelector('#running').textContent === 'advance is done'`),
		chromedp.EmulateViewport(390, 844),
		until(`innerWidth === 390`),
	); err != nil {
		t.Fatal(err)
	}
	shot(t, ctx, "console-narrow")
	if images := evaluated[int](t, ctx, `document.querySelectorAll('img').length`); images != 0 {
		t.Errorf("the hostile key made %d images", images)
	}
	if title := evaluated[string](t, ctx, `document.title`); title != "hotsplit console: renewal-saga" {
		t.Errorf("the title is %q", title)
	}
	if wide := evaluated[int](t, ctx, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d wide on a screen of 390", wide)
	}
}

// TestConsoleShowsTraces needs no endpoint, and says what it does not know.
func TestConsoleShowsTraces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hot.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := writePlanted(file, "hot"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	s := stage{spec: filepath.Join(t.TempDir(), "none")}
	out, in := io.Pipe()
	root := newRootCmd()
	root.SetArgs([]string{"console", "--listen", "127.0.0.1:0", "--json", "--trace", path})
	root.SetOut(in)
	running.Go(func() { in.CloseWithError(root.ExecuteContext(ctx)) })
	var told struct{ Address string }
	if err := json.NewDecoder(out).Decode(&told); err != nil {
		t.Fatal(err)
	}
	s.address = told.Address
	answer, err := http.Get(s.address + "state")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var state pageState
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
		t.Fatal(err)
	}
	if state.Outcome != "hot" || len(state.Map.Rows) != 1 || state.Move.Known {
		t.Errorf("outcome %q, %d rows, move known %v; want hot, 1, false", state.Outcome, len(state.Map.Rows), state.Move.Known)
	}
}
