package web

import (
	"crypto/subtle"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Role is what a writer may do.
type Role string

// The roles.
const (
	RoleManager Role = "manager" // moves renewals
	RoleInbound Role = "inbound" // delivers messages
)

// Access says who may write. The zero value lets nobody.
type Access struct {
	Open bool // everybody may write: for demonstrations

	// Token is a secret that gives both roles, as a Bearer token or as the
	// password of Basic authentication; "" is no token.
	Token string

	// RoleHeader is set by a proxy in front of the application and names the
	// roles, separated by commas; "" is no such proxy. UserHeader names the
	// person. Both are believed from the addresses in Proxies alone.
	RoleHeader string
	UserHeader string
	Proxies    []netip.Prefix
}

// who is the writer of a request, and whether the role is theirs.
func (a Access) who(r *http.Request, role Role) (name string, known, may bool) {
	if a.fromProxy(r) && r.Header.Get(a.RoleHeader) != "" {
		roles := strings.Split(r.Header.Get(a.RoleHeader), ",")
		may := slices.ContainsFunc(roles, func(have string) bool { return strings.TrimSpace(have) == string(role) })
		return a.user(r), true, may
	}
	if a.tokenFits(r) {
		return "token", true, true
	}
	if a.Open {
		return "demo", true, true
	}
	return "", false, false
}

func (a Access) user(r *http.Request) string {
	name := strings.ToValidUTF8(r.Header.Get(a.UserHeader), "")
	if name == "" {
		return "manager"
	}
	return name[:min(len(name), userBytesMax)]
}

const userBytesMax = 100

func (a Access) fromProxy(r *http.Request) bool {
	if a.RoleHeader == "" {
		return false
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && slices.ContainsFunc(a.Proxies, func(p netip.Prefix) bool { return p.Contains(from.Addr().Unmap()) })
}

func (a Access) tokenFits(r *http.Request) bool {
	if a.Token == "" {
		return false
	}
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		_, given, _ = r.BasicAuth()
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(a.Token)) == 1
}
