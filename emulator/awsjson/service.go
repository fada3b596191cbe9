package awsjson

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/emulator"
)

const (
	contentTypeJSON10 = "application/x-amz-json-1.0"
	contentTypeJSON   = "application/json"

	targetPrefix  = "DynamoDB_20120810."
	streamsPrefix = "DynamoDBStreams_20120810."
	callerHeader  = "X-Hotsplit-Caller"
)

// Header names in the spelling of http.Header, so that they can be indexed.
const (
	headerTarget    = "X-Amz-Target"
	headerRequestID = "X-Amzn-Requestid"
	headerChecksum  = "X-Amz-Crc32"
)

// service answers API requests.
type service struct {
	db *emulator.DB
	// anonymous lets requests without a signature in, as in-process clients send
	// them. Signatures themselves are never verified.
	anonymous bool
}

// answer performs one POST whose body has been read. The answer's body is in the
// exchange's buf. An error says that there is no answer to give.
func (s *service) answer(x *exchange, r *http.Request, body []byte) (status int, err error) {
	x.db, x.host = s.db, r.Host
	x.src, x.pos = body, 0
	err = s.perform(x, r)
	if err == nil {
		return http.StatusOK, nil
	}
	x.buf = x.buf[:0]
	status, answered := x.writeFault(err)
	if !answered {
		return 0, err
	}
	return status, nil
}

func (s *service) perform(x *exchange, r *http.Request) error {
	target := operationName(first(r.Header, headerTarget))
	op := operations[target]
	if op == nil && !slices.Contains(outOfScope, target) {
		return &protocolError{code: emulator.CodeUnknownOperation}
	}
	if err := s.authenticate(r); err != nil {
		return err
	}
	if op == nil {
		return emulator.Unsupported(target)
	}
	x.ctx = withCaller(r)
	return op(x)
}

// operationName cuts the interface off a target; "" is no operation.
func operationName(target string) string {
	if name, ok := strings.CutPrefix(target, targetPrefix); ok {
		return name
	}
	name, _ := strings.CutPrefix(target, streamsPrefix)
	if name == target {
		return ""
	}
	return name
}

// first is the header's first value; name is in canonical spelling.
func first(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// withCaller is the request's context with the name of who asks: what the client
// calls itself, else its access key.
func withCaller(r *http.Request) context.Context {
	caller := first(r.Header, callerHeader)
	if caller == "" {
		_, credential, _ := strings.Cut(first(r.Header, "Authorization"), "Credential=")
		caller, _, _ = strings.Cut(credential, "/")
	}
	if caller == "" {
		return r.Context()
	}
	return emulator.WithCaller(r.Context(), caller)
}

// authenticate checks that the request is signed at all.
func (s *service) authenticate(r *http.Request) error {
	header := strings.TrimSpace(first(r.Header, "Authorization"))
	presigned := strings.Contains(r.URL.RawQuery, "X-Amz-Algorithm")
	switch {
	case header != "" && presigned:
		return &protocolError{"InvalidSignatureException", "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."}
	case header == "" && (s.anonymous || presigned):
		return nil
	case !strings.HasPrefix(header, "AWS4-"):
		return &protocolError{"MissingAuthenticationTokenException", "Request is missing Authentication Token"}
	}
	var missing strings.Builder
	for _, part := range []string{"Credential", "Signature", "SignedHeaders"} {
		if !strings.Contains(header, part+"=") {
			missing.WriteString("Authorization header requires '" + part + "' parameter. ")
		}
	}
	if first(r.Header, "X-Amz-Date") == "" && first(r.Header, "Date") == "" {
		missing.WriteString("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
	}
	if missing.Len() > 0 {
		return &protocolError{"IncompleteSignatureException", missing.String() + "Authorization=" + header}
	}
	return nil
}

// setHeaders sets what every answer of the API carries.
func setHeaders(h http.Header, r *http.Request, body []byte) {
	contentType := contentTypes10
	if strings.HasPrefix(first(r.Header, "Content-Type"), contentTypeJSON) {
		contentType = contentTypesPlain
	}
	h["Content-Type"] = contentType
	h["Server"] = serverNames
	// One array holds the single values of three headers.
	values := [...]string{requestID(), strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10), strconv.Itoa(len(body))}
	h[headerRequestID] = values[0:1:1]
	h[headerChecksum] = values[1:2:2]
	h["Content-Length"] = values[2:3:3]
}

// Shared values of headers; nothing changes them.
var (
	contentTypes10    = []string{contentTypeJSON10}
	contentTypesPlain = []string{contentTypeJSON}
	serverNames       = []string{"Server"}
)

// requestID makes an id of the service's form: 52 letters and digits.
func requestID() string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
	var id [52]byte
	var bits uint64
	for i := range id {
		if i%12 == 0 {
			bits = rand.Uint64()
		}
		id[i] = alphabet[bits&31]
		bits >>= 5
	}
	return string(id[:])
}
