package awsjson

import (
	"bytes"
	"compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/hotsplit/hotsplit/emulator"
)

// bodyMax is the largest request that the service reads.
const bodyMax = 16 << 20

// drainMax is how much of a larger request is read and thrown away, so that its
// sender gets to see the answer rather than a broken connection.
const drainMax = 64 << 20

// bufferKeptMax is the largest buffer that is kept for the next request.
const bufferKeptMax = 1 << 20

// Handler serves db over HTTP: the API as POST /, a page that shows what it does
// as GET / for browsers, metrics as GET /metrics, and admin routes under /admin/.
// All but the API answer this machine only. API requests must be signed, with any
// key.
func Handler(db *emulator.DB) http.Handler {
	h := &handler{service: service{db: db}}
	h.console = newConsole(db)
	return h
}

type handler struct {
	service
	console http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/":
		h.serveAPI(w, r)
	case r.Method == http.MethodOptions && r.URL.Path == "/":
		preflight(w, r)
	case r.URL.Path == "/" && r.Method == http.MethodGet && !wantsPage(r):
		allowOrigin(w, r)
		health(w, r)
	default:
		h.console.ServeHTTP(w, r)
	}
}

// exchanges keeps buffers between requests.
var exchanges = sync.Pool{New: func() any { return new(pooled) }}

type pooled struct {
	exchange
	body []byte
}

func (p *pooled) free() {
	if cap(p.body) > bufferKeptMax || cap(p.buf) > bufferKeptMax {
		return
	}
	*p = pooled{body: p.body[:0], exchange: exchange{writer: writer{p.buf[:0]}, scanner: scanner{scratch: p.scratch[:0]}}}
	exchanges.Put(p)
}

func (h *handler) serveAPI(w http.ResponseWriter, r *http.Request) {
	allowOrigin(w, r)
	p := exchanges.Get().(*pooled)
	defer p.free()
	status, err := h.exchange(p, r)
	switch {
	case errors.Is(err, errTooLarge):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	case errors.Is(err, errNotAPI):
		unknownPage(w)
		return
	case err != nil:
		// The answer was dropped, or its reader has gone.
		panic(http.ErrAbortHandler)
	}
	body := p.buf
	if len(body) >= compressMin && strings.Contains(first(r.Header, "Accept-Encoding"), "gzip") {
		body = compress(w.Header(), body)
	}
	setHeaders(w.Header(), r, body)
	w.WriteHeader(status)
	w.Write(body)
}

var (
	errTooLarge = errors.New("awsjson: request too large")
	errNotAPI   = errors.New("awsjson: not a request of the API")
)

// exchange reads the request and performs it.
func (h *handler) exchange(p *pooled, r *http.Request) (status int, err error) {
	if p.body, err = readBody(p.body, r); err != nil {
		if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
			status, _ = p.writeFault(errNotJSON)
			return status, nil
		}
		return 0, err
	}
	if len(p.body) > 0 && !isJSON(first(r.Header, "Content-Type")) {
		return 0, errNotAPI
	}
	return h.answer(&p.exchange, r, p.body)
}

func isJSON(contentType string) bool {
	contentType, _, _ = strings.Cut(contentType, ";")
	contentType = strings.TrimSpace(contentType)
	return contentType == contentTypeJSON10 || contentType == contentTypeJSON
}

// readBody reads a body into dst, unpacked if it is packed.
func readBody(dst []byte, r *http.Request) ([]byte, error) {
	if r.ContentLength > bodyMax {
		return tooLarge(dst, r)
	}
	var reader io.Reader = r.Body
	length := r.ContentLength
	if first(r.Header, "Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			return dst, notGzip(err)
		}
		reader, length = unpacked, -1
	}
	if length < 0 || reader != r.Body {
		reader = io.LimitReader(reader, bodyMax+1)
	}
	dst, err := readInto(dst, reader, length)
	if err == nil && len(dst) > bodyMax {
		return tooLarge(dst, r)
	}
	return dst, err
}

func notGzip(err error) error {
	if errors.Is(err, io.EOF) {
		return gzip.ErrHeader
	}
	return err
}

func tooLarge(dst []byte, r *http.Request) ([]byte, error) {
	io.CopyN(io.Discard, r.Body, drainMax)
	return dst[:0], errTooLarge
}

// compressMin is the least size of an answer that is packed for who takes that.
const compressMin = 4096

func compress(h http.Header, body []byte) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	z.Write(body)
	z.Close()
	h.Set("Content-Encoding", "gzip")
	return packed.Bytes()
}

// health answers load balancers and scripts that ask whether the service is up.
func health(w http.ResponseWriter, r *http.Request) {
	plain(w, http.StatusOK, "healthy: "+r.Host+" ")
}

// unknownPage answers what is no request of the API.
func unknownPage(w http.ResponseWriter) {
	plain(w, http.StatusNotFound, "<UnknownOperationException/>\n")
}

func plain(w http.ResponseWriter, status int, body string) {
	h := w.Header()
	h["Content-Type"] = []string{"text/plain; charset=utf-8"}
	h[headerRequestID] = []string{requestID()}
	h[headerChecksum] = []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10)}
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// wantsPage tells a person from a program: browsers ask for HTML, and who types
// curl or wget wants to see something too.
func wantsPage(r *http.Request) bool {
	agent := first(r.Header, "User-Agent")
	return strings.Contains(first(r.Header, "Accept"), "text/html") ||
		strings.HasPrefix(agent, "curl/") || strings.HasPrefix(agent, "Wget/")
}

// allowOrigin lets pages of any origin use the API, as the service does. The
// admin routes are not open to them.
func allowOrigin(w http.ResponseWriter, r *http.Request) {
	if first(r.Header, "Origin") == "" {
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers", "x-amzn-requestid,x-amzn-errortype,x-amzn-errormessage,x-amz-crc32,date")
}

// preflight answers a browser's question whether it may send a request.
func preflight(w http.ResponseWriter, r *http.Request) {
	if first(r.Header, "Origin") == "" {
		unknownPage(w)
		return
	}
	allowOrigin(w, r)
	h := w.Header()
	if v := first(r.Header, "Access-Control-Request-Headers"); v != "" {
		h.Set("Access-Control-Allow-Headers", v)
	}
	if v := first(r.Header, "Access-Control-Request-Method"); v != "" {
		h.Set("Access-Control-Allow-Methods", v)
	}
	h.Set("Access-Control-Max-Age", "172800")
	w.WriteHeader(http.StatusOK)
}
