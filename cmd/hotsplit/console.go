package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/heat"
)

//go:embed console
var consoleFiles embed.FS

// consoleOptions are the verb's flags.
type consoleOptions struct {
	target
	listen       string
	traces       []string
	table, index string
	allowActions bool
	alone        bool
	token        string
}

func newConsoleCmd() *cobra.Command {
	o := &consoleOptions{}
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Watch heat and a move in one web page",
		Long: `console serves one page on this machine: the heat map of the index keys with their
ceiling and the verdicts in words, and beside it the move: phase, members, pace with
its reason, progress, verification and events. It needs no network but the endpoint.

Heat comes from trace files if some are named; else from the operation log when the
endpoint is 'hotsplit emulate'; else from what the move's members report. The page says
what it does not know.

It only looks, unless --allow-actions lets the page pause, resume, set, advance, complete
and roll back. Then the address carries a token, and each action asks first, as the
command line does.`,
		Example: `  hotsplit console --endpoint http://127.0.0.1:8000
  hotsplit console --spec hotsplit.yaml --allow-actions
  hotsplit console --trace trace.jsonl`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.target.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8010", "loopback `address` to serve on")
	f.StringArrayVar(&o.traces, "trace", nil, "`file` with a trace to show; several are merged")
	f.StringVar(&o.table, "table", "", "show this table `only` (default: the spec's)")
	f.StringVar(&o.index, "index", "", "show this index `only` (default: the spec's)")
	f.BoolVar(&o.allowActions, "allow-actions", false, "let the page change the move")
	f.BoolVar(&o.alone, "no-other-processes", false, "say that no process outside the member list reads or writes the rows")
	f.StringVar(&o.token, "token", "", "`text` that actions must carry (default: a random one, in the address)")
	return cmd
}

const (
	consoleShutdown = 3 * time.Second
	readHeaderMax   = 5 * time.Second
)

func (o *consoleOptions) run(cmd *cobra.Command) error {
	if err := o.check(); err != nil {
		return err
	}
	c, err := o.open(cmd)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return badInput(fmt.Errorf("--listen: %w", err))
	}
	if !loopbackHost(listener.Addr().String()) {
		listener.Close()
		return badInput(fmt.Errorf("--listen %s: other machines could reach the console; it serves this machine only", o.listen))
	}
	address := "http://" + listener.Addr().String() + "/"
	if o.allowActions {
		address += "#token=" + c.token
	}
	if o.json {
		err = printJSON(cmd.OutOrStdout(), map[string]any{"address": address, "pid": os.Getpid()})
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "The console is at %s\n", address)
	}
	if err != nil {
		return err
	}
	return c.serve(cmd.Context(), listener)
}

// open makes the console and the source of its heat.
func (o *consoleOptions) open(cmd *cobra.Command) (*console, error) {
	c := &console{options: o, token: cmp.Or(o.token, rand.Text()), recorder: heat.NewRecorder(heat.Options{Span: len(o.traces) > 0})}
	c.actions.console = c
	if _, err := os.Stat(o.path); err == nil {
		spec, client, err := o.target.open(cmd.Context())
		if err != nil {
			return nil, err
		}
		c.spec, c.client = &spec, client
		if o.table == "" && o.index == "" {
			o.table, o.index = spec.Table, spec.Index
		}
	} else if cmd.Flags().Changed("spec") {
		return nil, badInput(fmt.Errorf("--spec: %w", err))
	}
	if c.spec == nil && o.endpoint == "" && len(o.traces) == 0 {
		return nil, usageError(cmd, errors.New("nothing to show: name a --spec, an --endpoint or a --trace"))
	}
	if len(o.traces) > 0 {
		return c, c.readTraces(cmd)
	}
	return c, nil
}

// serve answers until ctx ends, then waits for what it started.
func (c *console) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: c.handler(), ReadHeaderTimeout: readHeaderMax}
	c.lifetime = ctx
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { c.watch(ctx); return nil })
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("console: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), consoleShutdown)
		defer cancel()
		return server.Shutdown(end)
	})
	err := group.Wait()
	c.actions.wait()
	return err
}
