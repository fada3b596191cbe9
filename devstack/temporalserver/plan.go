package temporalserver

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
)

const (
	loopback    = "127.0.0.1"
	clusterName = "active"
	storeName   = "sqlite"

	portCount    = 8  // gRPC and membership of four services
	freeTriesMax = 50 // random places to look for that many in a row
)

// plan is a server's configuration with the two parts that Start needs again.
type plan struct {
	config  *config.Config
	store   *config.SQL
	address string
}

// newPlan picks the ports and spells out the configuration.
func newPlan(options Options) (plan, error) {
	ports, err := portsOf(options.Port)
	if err != nil {
		return plan{}, err
	}
	address := net.JoinHostPort(loopback, strconv.Itoa(ports[0]))
	store := newStore(options.File)
	disabled := "disabled"
	configuration := &config.Config{
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback},
		},
		Persistence: config.Persistence{
			DefaultStore: storeName, VisibilityStore: storeName, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{storeName: {SQL: store}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: address},
		Services:            services(ports),
		Archival: config.Archival{
			History:    config.HistoryArchival{State: disabled},
			Visibility: config.VisibilityArchival{State: disabled},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: disabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: disabled},
		}},
	}
	return plan{config: configuration, store: store, address: address}, nil
}

// services gives each service a gRPC and a membership port; the first of ports
// is the frontend's.
func services(ports []int) map[string]config.Service {
	all := map[string]config.Service{}
	for i, name := range []string{"frontend", "history", "matching", "worker"} {
		all[name] = config.Service{RPC: config.RPC{
			GRPCPort: ports[i], MembershipPort: ports[i+4], BindOnLocalHost: true,
		}}
	}
	return all
}

// newStore is a database in a file, or a private one in memory.
func newStore(file string) *config.SQL {
	store := &config.SQL{PluginName: sqlite.PluginName, DatabaseName: file, ConnectAttributes: map[string]string{"mode": "rwc"}}
	if file == "" {
		store.DatabaseName = fmt.Sprintf("devstack%d", rand.Uint64())
		store.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
	}
	return store
}

// portsOf returns the ports of all services: first and the ones after it. They
// belong together so that a server that starts again on a file is the same
// member of the ring as before; as a stranger it would wait for the old one,
// which the file still lists, to be declared dead.
func portsOf(first int) ([]int, error) {
	for range freeTriesMax {
		ports, err := bindFrom(first)
		if err == nil || first != 0 {
			return ports, err
		}
	}
	return nil, fmt.Errorf("find %d free ports in a row: none in %d tries", portCount, freeTriesMax)
}

// bindFrom checks that the ports from first on are free, by holding them all at
// once. First 0 lets the system choose where to begin.
func bindFrom(first int) ([]int, error) {
	ports := make([]int, portCount)
	for i := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(first)))
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		ports[i] = listener.Addr().(*net.TCPAddr).Port
		first = ports[i] + 1
	}
	return ports, nil
}
