package awsjson

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/hotsplit/hotsplit/emulator"
)

// Transport answers requests from db in process. It opens no sockets and starts
// no goroutines. Requests need no signature.
func Transport(db *emulator.DB) http.RoundTripper {
	return &transport{service{db: db, anonymous: true}}
}

type transport struct{ service }

// RoundTrip answers one API request. A dropped answer is a connection reset, as
// a client would see it.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readAll(r)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var x exchange
	status, err := t.answer(&x, r, body)
	if errors.Is(err, emulator.ErrDropped) {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	if err != nil {
		return nil, err
	}
	h := make(http.Header, 8)
	setHeaders(h, r, x.buf)
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(x.buf)), ContentLength: int64(len(x.buf)), Request: r,
	}, nil
}

func readAll(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return readInto(nil, r.Body, r.ContentLength)
}

// readInto appends what reader gives to dst, which it sizes by the length that
// was announced, -1 for none.
func readInto(dst []byte, reader io.Reader, length int64) ([]byte, error) {
	if length >= 0 && length <= bodyMax && int64(cap(dst)) < length+bytes.MinRead {
		dst = make([]byte, 0, length+bytes.MinRead)
	}
	b := bytes.NewBuffer(dst)
	_, err := b.ReadFrom(reader)
	return b.Bytes(), err
}
