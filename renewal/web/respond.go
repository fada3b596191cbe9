package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// fragmentHeader asks for the parts of a page that change, without its frame.
const fragmentHeader = "X-Fragment"

// wantsPage: a person looks, rather than a program. A browser names text/html
// before anything else it takes.
func wantsPage(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/inbound/") {
		return false
	}
	accept := r.Header.Get("Accept")
	page, data := strings.Index(accept, "text/html"), strings.Index(accept, "application/json")
	return data < 0 && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || page >= 0 && (data < 0 || page < data)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types always encode
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// send answers a poll: 304 where the reader has these very bytes. The age is in
// a header, so that growing older is no change.
func send(w http.ResponseWriter, r *http.Request, contentType string, body []byte, age time.Duration) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Accept, "+fragmentHeader)
	h.Set("Age", strconv.Itoa(int(max(0, age).Seconds())))
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", contentType)
	_, _ = w.Write(body)
}

func matches(ifNoneMatch, tag string) bool {
	for have := range strings.SplitSeq(ifNoneMatch, ",") {
		have = strings.TrimPrefix(strings.TrimSpace(have), "W/")
		if have == tag || have == "*" {
			return true
		}
	}
	return false
}

// show answers with a page, its changing part, or its data, as the reader wants.
func (s *Server) show(w http.ResponseWriter, r *http.Request, name string, view, data any, age time.Duration) error {
	var body bytes.Buffer
	if !wantsPage(r) {
		if err := json.NewEncoder(&body).Encode(data); err != nil {
			return err
		}
		send(w, r, "application/json; charset=utf-8", body.Bytes(), age)
		return nil
	}
	part := "page"
	if r.Header.Get(fragmentHeader) != "" {
		part = "live"
	}
	if err := s.pages[name].ExecuteTemplate(&body, part, view); err != nil {
		return err
	}
	send(w, r, "text/html; charset=utf-8", body.Bytes(), age)
	return nil
}
