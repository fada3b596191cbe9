package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/renewal/web"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"renewald": main})
}

// TestScript runs testdata/script/*.txtar against the real main. Each script has
// a running demo at $RENEWALS, its table at $DYNAMODB and a free $PORT, and
// beside testscript's commands:
//
//	exits CODE PROGRAM ARG…  run, and want that exit code
//	answers URL              wait until it answers 200
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), Setup: startDemo,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "answers": answers},
	})
}

func startDemo(e *testscript.Env) error {
	a, err := app.New(context.Background(), app.Options{
		Demo: true, DemoSagas: 40, Listen: "127.0.0.1:0", NoSweeps: true, Access: web.Access{Open: true}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	e.Defer(func() { cancel(); <-done })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer free.Close()
	for name, value := range map[string]string{
		"RENEWALS": "http://" + a.Addr(), "DYNAMODB": a.Endpoint(), "PORT": fmt.Sprint(free.Addr().(*net.TCPAddr).Port),
		"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		e.Setenv(name, value)
	}
	return nil
}

// exits runs a command and wants its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

const answersMax = 30 * time.Second

func answers(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), answersMax)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], nil)
		ts.Check(err)
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("%s never answered 200", args[0])
		case <-tick.C:
		}
	}
}
