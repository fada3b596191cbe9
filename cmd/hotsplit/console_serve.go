package main

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"html/template"
	"net"
	"net/http"
	"strings"

	"github.com/hotsplit/hotsplit/capacity"
)

// handler is the console's routes. It answers this machine under its loopback
// name only, so that no foreign page can read or act through a browser.
func (c *console) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.page)
	mux.HandleFunc("GET /console.js", asset("console.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /console.css", asset("console.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET /state", c.sendState)
	mux.HandleFunc("POST /act", c.act)
	mux.HandleFunc("POST /answer", c.answer)
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if !loopbackHost(r.Host) {
			http.Error(w, "the console answers under its loopback name only", http.StatusForbidden)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// loopbackHost says that an address or host name is this machine's own.
func loopbackHost(address string) bool {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

func asset(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		content, err := consoleFiles.ReadFile("console/" + name)
		if err != nil {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Write(content)
	}
}

func (c *console) page(w http.ResponseWriter, _ *http.Request) {
	t, err := template.ParseFS(consoleFiles, "console/page.html.tmpl")
	var b bytes.Buffer
	if err == nil {
		err = t.Execute(&b, map[string]any{
			"Actions": c.options.allowActions, "Legend": heatLegend(), "Ceiling": capacity.PartitionCeiling,
			"Title": c.title(),
		})
	}
	if err != nil {
		http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes())
}

func (c *console) title() string {
	if c.spec != nil {
		return c.spec.Name
	}
	return "heat"
}

func (c *console) sendState(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	// An error here means that the browser went away.
	_ = json.NewEncoder(w).Encode(c.state())
}

// authorized says that an action may be taken, or answers why not.
func (c *console) authorized(w http.ResponseWriter, r *http.Request) bool {
	if !c.options.allowActions || c.spec == nil {
		http.Error(w, "this console only looks; start it with --spec and --allow-actions to act", http.StatusForbidden)
		return false
	}
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Hotsplit-Token")), []byte(c.token)) != 1 {
		http.Error(w, "the token is missing or wrong; open the address that the command printed", http.StatusForbidden)
		return false
	}
	return true
}

const actionBytesMax = 4096

func (c *console) act(w http.ResponseWriter, r *http.Request) {
	if !c.authorized(w, r) {
		return
	}
	var a action
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, actionBytesMax)).Decode(&a); err != nil {
		http.Error(w, "action: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := c.actions.begin(a); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (c *console) answer(w http.ResponseWriter, r *http.Request) {
	if !c.authorized(w, r) {
		return
	}
	var a struct {
		ID     int    `json:"id"`
		Answer string `json:"answer"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, actionBytesMax)).Decode(&a); err != nil {
		http.Error(w, "answer: "+err.Error(), http.StatusBadRequest)
		return
	}
	if !c.actions.answer(a.ID, a.Answer) {
		http.Error(w, "nothing is being asked any more", http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}
