package web

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed static
var static embed.FS

// Server answers the application's routes. It starts nothing and has nothing to
// close.
type Server struct {
	Options
	pages   pages
	recent  recent
	order   order
	handler http.Handler
}

// New is the application's routes.
func New(options Options) (*Server, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	s := &Server{Options: options.withDefaults()}
	var err error
	if s.pages, err = loadPages(); err != nil {
		return nil, err
	}
	s.handler = s.guard(s.routes())
	return s, nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, listPath, http.StatusSeeOther)
	})
	mux.HandleFunc("GET "+listPath, s.answer(s.list))
	mux.HandleFunc("GET "+listPath+"/{leaseId}", s.answer(s.detail))
	mux.HandleFunc("POST "+listPath+"/{leaseId}/moves", s.answer(s.writes(RoleManager, s.move)))
	mux.HandleFunc("GET /ops", s.answer(s.ops))

	mux.HandleFunc("POST /inbound/message", s.answer(s.writes(RoleInbound, s.message)))
	mux.HandleFunc("POST /inbound/notice-to-vacate", s.answer(s.writes(RoleInbound, s.notice)))
	mux.HandleFunc("POST /inbound/signal", s.answer(s.writes(RoleInbound, s.signal)))
	mux.HandleFunc("POST /inbound/voice", s.answer(s.writes(RoleInbound, s.voice)))
	mux.HandleFunc("GET /inbound/schema.json", schema)

	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.ready)
	if s.Metrics != nil {
		mux.Handle("GET /metrics", s.Metrics)
	}
	mux.Handle("GET /static/", assets())
	mux.HandleFunc("/", s.answer(func(http.ResponseWriter, *http.Request) error { return errNoRoute }))
	return mux
}

const listPath = "/leasing/renewals"

// assets serves what is embedded. The files change with the binary alone, and a
// short age spares the version in each name.
func assets() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the directory is embedded
	}
	serve := http.StripPrefix("/static/", http.FileServerFS(files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=300")
		serve.ServeHTTP(w, r)
	})
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := s.Ready(r.Context()); err != nil {
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(err.Error() + "\n"))
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}
