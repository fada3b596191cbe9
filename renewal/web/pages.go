package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

//go:embed templates
var templates embed.FS

// pages are the templates of each page, with the frame that all share.
type pages map[string]*template.Template

func loadPages() (pages, error) {
	all := pages{}
	for _, name := range []string{"list", "detail", "ops", "error"} {
		t, err := template.New(name).Funcs(functions).ParseFS(templates, "templates/frame.html", "templates/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("template %s: %w", name, err)
		}
		all[name] = t
	}
	return all, nil
}

func (p pages) write(w http.ResponseWriter, status int, name string, view any) {
	var body bytes.Buffer
	if err := p[name].ExecuteTemplate(&body, "page", view); err != nil {
		panic(err) // the templates are embedded and tested
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// page is what the frame shows.
type page struct {
	Title      string
	PollMillis int64
	StaleAfter int
	Automation string
	Age        int // of what the page shows, in seconds
}

// aged says in the frame how old the answer is: scripts cannot see the header of
// the page that they stand on. A short age is none, so that a page keeps its tag.
func (p page) aged(f freshness) page {
	if f.Stale {
		p.Age = int(f.Age.Seconds())
	}
	return p
}

func (s *Server) page(title string) page {
	return page{Title: title, PollMillis: s.Poll.Milliseconds(), StaleAfter: int(s.StaleAfter.Seconds()), Automation: s.Automation}
}

var functions = template.FuncMap{
	"money":  money,
	"day":    day,
	"moment": moment,
	"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"label":  label,
	"tone":   tone,
	"verb":   verb,
	"units":  func(u float64) string { return fmt.Sprintf("%.2f", u) },
}

// money spells an amount with thousands apart: $1,234.50.
func money(cents int64) string {
	if cents == 0 {
		return "–"
	}
	digits := fmt.Sprintf("%d", cents/100)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if rest := cents % 100; rest != 0 {
		return fmt.Sprintf("$%s.%02d", digits, rest)
	}
	return "$" + digits
}

func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Format("2 Jan 2006")
}

func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// label is a state in words.
func label(s renewal.State) string {
	words := strings.ReplaceAll(string(s), "-", " ")
	if words == "" {
		return "Note"
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// tone groups states by what they mean to the reader; the style sheet gives each
// tone its colours.
func tone(s renewal.State) string {
	switch s {
	case renewal.PrepareFailed:
		return "bad"
	case renewal.Negotiating, renewal.Prepared:
		return "act"
	case renewal.Accepted, renewal.Signed, renewal.Completed:
		return "good"
	case renewal.Declined, renewal.Expired, renewal.Cancelled, renewal.NoticeReceived:
		return "over"
	default:
		return "calm"
	}
}

// verb is what the button says that moves a renewal to s.
func verb(s renewal.State) string {
	switch s {
	case renewal.Preparing:
		return "Prepare"
	case renewal.PrepareFailed:
		return "Mark as failed"
	case renewal.Prepared:
		return "Offer is ready"
	case renewal.Offered:
		return "Send offer"
	case renewal.Negotiating:
		return "Negotiate"
	case renewal.Accepted:
		return "Accepted"
	case renewal.Signed:
		return "Signed"
	case renewal.Completed:
		return "Complete"
	case renewal.NoticeReceived:
		return "Notice received"
	case renewal.Declined:
		return "Declined"
	case renewal.Expired:
		return "Expired"
	case renewal.Cancelled:
		return "Cancel renewal"
	default:
		return label(s)
	}
}

// due says how far a day is from today, in whole days, so that a page does not
// change every second.
func due(at, now time.Time) (text, urgency string) {
	if at.IsZero() {
		return "", ""
	}
	switch days := int(midnight(at).Sub(midnight(now)).Hours() / 24); {
	case days < -1:
		return fmt.Sprintf("%d days overdue", -days), "late"
	case days == -1:
		return "1 day overdue", "late"
	case days == 0:
		return "today", "soon"
	case days == 1:
		return "tomorrow", "soon"
	case days <= 7:
		return fmt.Sprintf("in %d days", days), "soon"
	default:
		return fmt.Sprintf("in %d days", days), ""
	}
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
