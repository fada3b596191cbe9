package temporalserver_test

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hotsplit/hotsplit/devstack/temporalserver"
)

const queue = "test"

func greet(ctx workflow.Context) (string, error) {
	var name string
	workflow.GetSignalChannel(ctx, "name").Receive(ctx, &name)
	return "hello " + name, nil
}

type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

var _ sdklog.Logger = silent{}

func start(t *testing.T, options temporalserver.Options) *temporalserver.Server {
	t.Helper()
	began := time.Now()
	server, err := temporalserver.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started on %s in %v", server.Address(), time.Since(began).Round(time.Millisecond))
	return server
}

func dial(t *testing.T, server *temporalserver.Server) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: server.Address(), Namespace: server.Namespace(), Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func work(t *testing.T, c client.Client) worker.Worker {
	t.Helper()
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflow(greet)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

func begin(t *testing.T, c client.Client) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "greeting", TaskQueue: queue}, greet)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// finish signals the workflow until the server takes it: after a restart the
// first calls may meet a server that is still loading its shard.
func finish(t *testing.T, c client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := c.SignalWorkflow(ctx, "greeting", "", "name", "world"); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := c.GetWorkflow(ctx, "greeting", "").Get(ctx, &got); err != nil || got != "hello world" {
		t.Fatalf("workflow said %q, %v", got, err)
	}
}

func TestServerInMemory(t *testing.T) {
	server := start(t, temporalserver.Options{})
	t.Cleanup(func() { _ = server.Stop() })
	c := dial(t, server)
	w := work(t, c)
	defer w.Stop()
	begin(t, c)
	finish(t, c)
}

func TestServerGoesOnAfterRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "temporal.db")
	first := start(t, temporalserver.Options{File: file})
	c := dial(t, first)
	w := work(t, c)
	begin(t, c)
	w.Stop()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}

	_, port, _ := net.SplitHostPort(first.Address())
	number, _ := strconv.Atoi(port)
	second := start(t, temporalserver.Options{File: file, Port: number})
	t.Cleanup(func() { _ = second.Stop() })
	w = work(t, c)
	defer w.Stop()
	finish(t, c)
}
