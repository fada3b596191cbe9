package web

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
)

// bodyBytesMax bounds every request's body.
const bodyBytesMax = 64 << 10

// guard is what holds for every route: headers, the origin of writes, the size
// of bodies, and that a bug is one failed request.
func (s *Server) guard(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		defer s.recover(w, r)
		if err := origin.Check(r); err != nil {
			s.fail(w, r, errCrossOrigin)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, bodyBytesMax)
		next.ServeHTTP(w, r)
	})
}

func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

func (s *Server) recover(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		s.Log.ErrorContext(r.Context(), "request panicked", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		s.fail(w, r, errBug)
	}
}

// answer turns a handler's error into the answer that the table has for it.
func (s *Server) answer(handle func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

type writerKey struct{}

// writes lets those in who have the role.
func (s *Server) writes(role Role, handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, known, may := s.Access.who(r, role)
		switch {
		case !known:
			w.Header().Set("WWW-Authenticate", `Basic realm="renewals", charset="UTF-8"`)
			return errUnknownWriter
		case !may:
			return errForbidden
		}
		return handle(w, r.WithContext(context.WithValue(r.Context(), writerKey{}, name)))
	}
}

func writer(r *http.Request) string {
	name, _ := r.Context().Value(writerKey{}).(string)
	return name
}
