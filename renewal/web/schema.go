package web

import (
	_ "embed"
	"net/http"
)

//go:embed static/schema.json
var inboundSchema []byte

func schema(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/schema+json")
	_, _ = w.Write(inboundSchema)
}
