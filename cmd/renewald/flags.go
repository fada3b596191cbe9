package main

import (
	"fmt"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/renewal/web"
)

// tokenEnvironment holds the static token: a flag would show it to everybody on
// the machine.
const tokenEnvironment = "RENEWALD_TOKEN"

func addTableFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("endpoint", "", "DynamoDB endpoint; empty is AWS by the standard configuration")
	f.String("region", "", "AWS region; empty is the standard configuration's")
	f.String("table", "propflow", "table that holds the sagas")
	f.Int("shards", 16, "keys that sagas are spread over; -1 is the one old key")
	f.String("move", "", "take part in the hotsplit move of this `NAME` instead of a static layout")
	f.String("temporal", "", "Temporal server, `HOST:PORT`; empty runs without automation")
}

func addServeFlags(cmd *cobra.Command) {
	addTableFlags(cmd)
	f := cmd.Flags()
	f.String("listen", "127.0.0.1:8080", "address to answer on; port 0 takes a free one")
	f.Bool("create-table", false, "make the table and its index if they are missing, on demand")
	f.Int64("warm-reads", 0, "warm read units a second of a new index")
	f.Int64("warm-writes", 0, "warm write units a second of a new index")
	f.Bool("demo", false, "run on an emulator in this process, filled with a portfolio; everybody may write")
	f.Int("demo-sagas", 320, "renewals in the demo's portfolio")
	f.String("demo-endpoint", "127.0.0.1:0", "where the demo's emulator answers over HTTP")
	f.Bool("no-sweeps", false, "run no sweeps in this process")
	f.Float64("sweep-scale", 1, "shorten the sweeps' periods: 0.1 is ten times as often")
	f.String("role-header", "", "header in which a trusted proxy names the writer's roles, manager or inbound")
	f.String("user-header", "", "header in which that proxy names the person")
	f.StringSlice("trusted-proxy", []string{"127.0.0.0/8", "::1/128"}, "networks that the proxy's headers are believed from")
}

func tableOptions(cmd *cobra.Command) app.Options {
	f := cmd.Flags()
	var o app.Options
	o.Endpoint, _ = f.GetString("endpoint")
	o.Region, _ = f.GetString("region")
	o.Table, _ = f.GetString("table")
	o.Shards, _ = f.GetInt("shards")
	o.Move, _ = f.GetString("move")
	o.Temporal, _ = f.GetString("temporal")
	return o
}

func serveOptions(cmd *cobra.Command) (app.Options, error) {
	f := cmd.Flags()
	o := tableOptions(cmd)
	o.Listen, _ = f.GetString("listen")
	o.CreateTable, _ = f.GetBool("create-table")
	reads, _ := f.GetInt64("warm-reads")
	writes, _ := f.GetInt64("warm-writes")
	o.Warm = dynamostore.Warm{ReadUnits: reads, WriteUnits: writes}
	o.Demo, _ = f.GetBool("demo")
	o.DemoSagas, _ = f.GetInt("demo-sagas")
	o.DemoEndpoint, _ = f.GetString("demo-endpoint")
	o.NoSweeps, _ = f.GetBool("no-sweeps")
	o.SweepScale, _ = f.GetFloat64("sweep-scale")
	var err error
	o.Access, err = accessOf(cmd)
	o.Access.Open = o.Demo
	return o, err
}

func accessOf(cmd *cobra.Command) (web.Access, error) {
	f := cmd.Flags()
	a := web.Access{Token: os.Getenv(tokenEnvironment)}
	a.RoleHeader, _ = f.GetString("role-header")
	a.UserHeader, _ = f.GetString("user-header")
	networks, _ := f.GetStringSlice("trusted-proxy")
	for _, text := range networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return a, &usageError{fmt.Errorf("--trusted-proxy %s: %w", text, err)}
		}
		a.Proxies = append(a.Proxies, network)
	}
	return a, nil
}
