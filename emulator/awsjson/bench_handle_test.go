package awsjson_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

// recorded is one request as the SDK sends it.
type recorded struct {
	http.RoundTripper
	request *http.Request
	body    []byte
}

func (r *recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.request, r.body = request.Clone(request.Context()), body
	return r.RoundTripper.RoundTrip(request)
}

// discard is a response without a connection.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

type rewound struct{ bytes.Reader }

func (*rewound) Close() error { return nil }

// BenchmarkHandler measures the emulator alone: a request decoded, performed and
// answered, without client, connection and net/http.
func BenchmarkHandler(b *testing.B) {
	db := emulator.New(emulator.Options{Unlimited: true, LagMax: -1})
	record := &recorded{RoundTripper: awsjson.Transport(db)}
	client := benchClient("local", "", "")
	client = withTransport(client, record)
	loadRows(b, client)
	handler := awsjson.Handler(db)
	for _, c := range benchCases {
		if err := c.do(b.Context(), client, 1); err != nil {
			b.Fatal(err)
		}
		request := record.request
		request.Header.Set("Authorization", signature)
		request.Header.Set("X-Amz-Date", "20261201T000000Z")
		body := record.body
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var reader rewound
			answer := &discard{header: http.Header{}}
			start := ownCPU()
			for b.Loop() {
				reader.Reset(body)
				request.Body = &reader
				handler.ServeHTTP(answer, request)
			}
			// Processor time, because the machine may have other things to do.
			b.ReportMetric(float64(ownCPU()-start)/float64(b.N), "cpu-ns/op")
			if answer.status != http.StatusOK {
				b.Fatal(answer.status)
			}
		})
	}
}
