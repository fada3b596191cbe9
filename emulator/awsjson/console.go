package awsjson

import (
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/emulator"
)

// console serves what is about the emulator rather than about DynamoDB. It
// answers this machine only, whatever address the server listens on.
type console struct{ db *emulator.DB }

func newConsole(db *emulator.DB) http.Handler {
	c := &console{db: db}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.page)
	mux.HandleFunc("GET /metrics", c.metrics)
	mux.HandleFunc("GET /admin/state", c.state)
	mux.HandleFunc("GET /admin/heat", c.heat)
	mux.HandleFunc("GET /admin/log", c.log)
	mux.HandleFunc("GET /admin/faults", c.listFaults)
	mux.HandleFunc("POST /admin/faults", c.addFault)
	mux.HandleFunc("DELETE /admin/faults", c.removeFaults)
	mux.HandleFunc("DELETE /admin/faults/{id}", c.removeFault)
	mux.HandleFunc("POST /admin/hold", c.hold)
	mux.HandleFunc("POST /admin/release", c.release)
	mux.HandleFunc("GET /admin/pending", c.pending)
	mux.HandleFunc("POST /admin/reap", c.reap)
	mux.HandleFunc("POST /admin/advance", c.advance)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { unknownPage(w) })
	return localOnly(http.NewCrossOriginProtection().Handler(mux))
}

// localOnly refuses requests that come from another machine, and those that a
// browser was tricked into sending here under a foreign host name.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.RemoteAddr) || !loopback(r.Host) {
			fail(w, http.StatusForbidden, "this route answers the machine that the emulator runs on, and only under its loopback name")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func fail(w http.ResponseWriter, status int, message string) {
	respond(w, status, struct {
		Error string `json:"error"`
	}{message})
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", contentTypeJSON)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(body)
}

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS string

//go:embed page/page.js
var pageJS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// page is the whole console in one answer, with what there is to see at once. Its policy lets it load nothing and
// ask nobody but this server.
func (c *console) page(w http.ResponseWriter, _ *http.Request) {
	nonce := rand.Text()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; img-src data:; style-src 'nonce-"+nonce+
		"'; script-src 'nonce-"+nonce+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	pageTemplate.Execute(w, struct {
		Nonce string
		CSS   template.CSS
		JS    template.JS
		First view
	}{nonce, template.CSS(pageCSS), template.JS(pageJS), viewOf(c.db, 0, c.db.Now())})
}

// state is what the page shows. since is the last log entry that it knows.
func (c *console) state(w http.ResponseWriter, r *http.Request) {
	since, _ := strconv.ParseUint(r.FormValue("since"), 10, 64)
	respond(w, http.StatusOK, viewOf(c.db, since, c.db.Now()))
}
