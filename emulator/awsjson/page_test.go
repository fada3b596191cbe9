package awsjson_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/chromedp/chromedp"

	"github.com/hotsplit/hotsplit/emulator"
)

// browser opens a tab. close ends it and says what the page wrote to the console,
// breaches of its policy and exceptions included.
func browser(t *testing.T) (ctx context.Context, close func() []string) {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("HOTSPLIT_NO_SKIP") != "" {
			t.Fatal("chromium is not installed, and HOTSPLIT_NO_SKIP forbids to skip")
		}
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	allocator, endBrowser := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(endBrowser)
	limited, cancel := context.WithTimeout(allocator, 2*time.Minute)
	t.Cleanup(cancel)
	ctx, closeTab := chromedp.NewContext(limited)
	written := make(chan []string, 1)
	messages := chromedp.Console(ctx)
	go func() {
		var texts []string
		for m, err := range messages {
			if err != nil {
				break
			}
			texts = append(texts, m.String())
		}
		written <- texts
	}()
	return ctx, func() []string {
		closeTab()
		return <-written
	}
}

// shown waits until the page has an element and gives the page's text.
func shown(t *testing.T, ctx context.Context, selector string) string {
	t.Helper()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`new Promise(shown => {
		const look = setInterval(() => {
			if (!document.querySelector(`+strconv.Quote(selector)+`)) return;
			clearInterval(look);
			shown(document.body.innerText);
		}, 50);
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("wait for %s: %v", selector, err)
	}
	return text
}

// The page in a real browser: it shows a hot key and its throttles, refreshes
// itself, and breaks neither its own policy nor its script.
func TestPageInBrowser(t *testing.T) {
	ctx, closeTab := browser(t)
	s, db := newServer(t, emulator.Options{PartitionCeiling: emulator.Units{Read: 3000, Write: 50}})
	if err := chromedp.Do(ctx, chromedp.Navigate(s.URL)); err != nil {
		t.Fatal(err)
	}
	shown(t, ctx, ".empty")
	c := inProcess(db)
	createTable(t, c)
	for n := range 120 {
		// Most are refused, which is what the page is to show.
		c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sagas"), Item: saga(strconv.Itoa(n))}, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	}
	shown(t, ctx, ".strip .refused")
	page := shown(t, ctx, "#throttles td.key")
	for _, want := range []string{"1 table, 1 index · ", "index of sagas, 4 partitions", "RenewalSaga", "IndexWriteKeyRangeThroughputExceeded", "throttled"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, text := range closeTab() {
		t.Errorf("the page complains: %s", text)
	}
}
