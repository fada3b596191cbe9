package temporalserver

import (
	"fmt"
	"os"
	"time"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

// ringSettle is how long the membership ring needs after Start before the first
// request; without it the server can panic while it still counts its members.
const ringSettle = 100 * time.Millisecond

// Options says where a server listens and what it keeps. The zero value is a
// server on free ports that forgets everything.
type Options struct {
	Namespace string // registered at start; "" means "default"
	File      string // SQLite file that outlives the server; "" keeps everything in memory
	Port      int    // frontend port, the seven after it are used too; 0 means free ones
	Logger    log.Logger
}

// Server is a running Temporal server.
type Server struct {
	namespace string
	address   string
	inner     temporal.Server
}

// Start starts a server and returns when it answers.
func Start(options Options) (*Server, error) {
	if options.Namespace == "" {
		options.Namespace = "default"
	}
	if options.Logger == nil {
		options.Logger = log.NewNoopLogger()
	}
	plan, err := newPlan(options)
	if err != nil {
		return nil, err
	}
	if err := prepareStore(plan.store, options); err != nil {
		return nil, err
	}
	inner, err := temporal.NewServer(
		temporal.WithConfig(plan.config),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithLogger(options.Logger),
		temporal.WithDynamicConfigClient(settings()),
	)
	if err != nil {
		return nil, fmt.Errorf("make temporal server: %w", err)
	}
	if err := inner.Start(); err != nil {
		return nil, fmt.Errorf("start temporal server on %s: %w", plan.address, err)
	}
	time.Sleep(ringSettle)
	return &Server{namespace: options.Namespace, address: plan.address, inner: inner}, nil
}

// Address is the frontend's HOST:PORT.
func (s *Server) Address() string { return s.address }

// Namespace is the namespace that Start registered.
func (s *Server) Namespace() string { return s.namespace }

// Stop ends all services. Clients and workers should be closed first.
func (s *Server) Stop() error {
	if err := s.inner.Stop(); err != nil {
		return fmt.Errorf("stop temporal server on %s: %w", s.address, err)
	}
	return nil
}

// prepareStore makes the schema of a new file and registers the namespace.
func prepareStore(store *config.SQL, options Options) error {
	if options.File != "" {
		if _, err := os.Stat(options.File); os.IsNotExist(err) {
			if err := sqlite.SetupSchema(store); err != nil {
				return fmt.Errorf("set up schema in %s: %w", options.File, err)
			}
		}
	}
	namespace, err := sqlite.NewNamespaceConfig(clusterName, options.Namespace, false, nil)
	if err != nil {
		return fmt.Errorf("describe namespace %s: %w", options.Namespace, err)
	}
	if err := sqlite.CreateNamespaces(store, namespace); err != nil {
		return fmt.Errorf("register namespace %s: %w", options.Namespace, err)
	}
	return nil
}

// settings are what a single small server does better without: caches that
// delay a new search attribute, and rate limits sized for a shared cluster.
func settings() dynamicconfig.StaticClient {
	always := func(value any) []dynamicconfig.ConstrainedValue {
		return []dynamicconfig.ConstrainedValue{{Value: value}}
	}
	return dynamicconfig.StaticClient{
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): always(true),
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():      always(1),
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key():     always(1),
	}
}
