package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

type emulate struct {
	listen      string
	allowRemote bool
	json        bool
	physics     physicsFlags
}

func newEmulateCmd() *cobra.Command {
	e := &emulate{}
	cmd := &cobra.Command{
		Use:   "emulate",
		Short: "Serve a DynamoDB that throttles and lags like production",
		Long: `emulate serves an embedded DynamoDB over HTTP until it is interrupted. Any SDK can
use it; keys and signatures are not checked. It keeps everything in memory: what
is written is gone when it ends.

Its zero configuration behaves as production does, as far as that is known:
physical partitions with 1,000 write and 3,000 read units a second, four of them
for a new table or index, index entries that arrive late, writes refused when an
index cannot take them. What is not known about production is a flag; the default
is the likeliest answer.

Open the address in a browser to see tables, partitions, their heat and recent
throttles. Beside the API it serves, to this machine only:
  GET    /metrics                     counters under their CloudWatch names
  GET    /admin/log?since=N           operation log as JSON lines
  GET    /admin/heat?seconds=N        units per second, key and partition
  POST   /admin/faults                script a fault; GET lists, DELETE ends them
  POST   /admin/hold, /admin/release  hold index changes: {"table","index","half"}
  POST   /admin/advance?for=30m       move the emulator's clock ahead
  POST   /admin/reap                  delete expired items now

It ends with exit code 0 when it is interrupted.`,
		Example: `  hotsplit emulate                                       on 127.0.0.1:8000
  hotsplit emulate --listen 127.0.0.1:0 --json           on a free port, told as JSON
  hotsplit emulate --lag-min 1s --lag-max 3s --index-order delete-first
                                                         moved rows vanish for a moment
  hotsplit emulate --split-minutes 3                     partitions split after 3 hot minutes
  hotsplit emulate --unlimited --lag-max 0               no throttles and no lag
  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000
  curl -d '{"kind":"throttle","index":"GSI4","probability":0.1}' http://127.0.0.1:8000/admin/faults`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&e.listen, "listen", "127.0.0.1:8000", "`address` to serve; port 0 takes a free one")
	f.BoolVar(&e.allowRemote, "allow-remote", false, "allow an address that other machines can reach; they get the API without any access control")
	f.BoolVar(&e.json, "json", false, "tell the endpoint as one line of JSON, once it answers")
	e.physics.register(f)
	return cmd
}

func (e *emulate) run(cmd *cobra.Command) error {
	options, err := e.physics.options()
	if err != nil {
		return usageError(cmd, err)
	}
	if err := e.checkListen(cmd); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", e.listen)
	if err != nil {
		return badInput(fmt.Errorf("--listen: %w", err))
	}
	if err := e.announce(cmd, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serve(cmd.Context(), listener, awsjson.Handler(emulator.New(options)))
}

// checkListen refuses an address that other machines can reach, unless that is
// what was asked for: whoever reaches the emulator may do everything.
func (e *emulate) checkListen(cmd *cobra.Command) error {
	host, _, err := net.SplitHostPort(e.listen)
	if err != nil {
		return usageError(cmd, fmt.Errorf("--listen: %w", err))
	}
	ip := net.ParseIP(host)
	if e.allowRemote || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usageError(cmd, fmt.Errorf("--listen %s: other machines could reach the emulator, which checks no credentials; give --allow-remote if that is meant", e.listen))
}

func (e *emulate) announce(cmd *cobra.Command, address net.Addr) error {
	endpoint := "http://" + reachable(address).String()
	if e.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			Endpoint string `json:"endpoint"`
			PID      int    `json:"pid"`
		}{endpoint, os.Getpid()})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "DynamoDB at %s, in memory until Ctrl-C. Open it in a browser to see the heat.\n", endpoint)
	return err
}

// reachable is the address to tell a client on this machine: a server on all
// addresses is found on the loopback one.
func reachable(address net.Addr) net.Addr {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address
	}
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}
}

// Bounds of one connection. Answers have none: a scripted delay may be long.
const (
	headerReadMax   = 10 * time.Second
	requestReadMax  = 2 * time.Minute
	idleMax         = 5 * time.Minute
	shutdownWaitMax = 2 * time.Second
)

// serve answers until ctx ends, then lets requests under way finish.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerReadMax, ReadTimeout: requestReadMax, IdleTimeout: idleMax}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWaitMax)
	defer cancel()
	if err := server.Shutdown(wait); err != nil {
		server.Close()
	}
	<-ended
	return nil
}
