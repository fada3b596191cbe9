package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/renewal"
)

const rows = `document.querySelectorAll("tr[data-key]").length`

func TestListFilterAndPage(t *testing.T) {
	b := newRig(t, app.Options{DemoSagas: 120}).browse(1280, 900)
	b.open("/leasing/renewals")
	b.holds("a full page", rows+" === 25")
	b.shoot("list")
	first := eval[string](b, `document.querySelector("tr[data-key]").dataset.key`)
	b.do(chromedp.Click("#next-page"), chromedp.WaitVisible("#first-page"))
	if again := eval[bool](b, fmt.Sprintf(`!!document.querySelector('tr[data-key="%s"]')`, first)); again {
		t.Error("the first row stands on the second page too")
	}
	b.do(chromedp.Click("#first-page"))
	b.holds("the first page again", fmt.Sprintf(`document.querySelector("tr[data-key]")?.dataset.key === %q`, first))

	b.do(chromedp.SetValue(`select[name=state]`, "offered"), js(`document.querySelector("select[name=state]").dispatchEvent(new Event("input", {bubbles: true}))`))
	b.holds("only offered rows", `location.search === "?state=offered" && [...document.querySelectorAll("tr[data-key] .badge")].every((e) => e.textContent === "Offered") && `+rows+" > 0")
	b.shoot("list-filtered")
	b.do(chromedp.SendKeys(`input[name=q]`, "no such tenant"))
	b.holds("the empty list", `!!document.querySelector(".empty") && `+rows+" === 0")
	b.shoot("list-empty")
}

func TestListFollowsWithoutLosingFocus(t *testing.T) {
	r := newRig(t, app.Options{})
	b := r.browse(1280, 500)
	offered := r.one("offered")
	b.open("/leasing/renewals?limit=100")
	link := fmt.Sprintf(`tr[data-key="%s"] a`, offered.ID)
	b.do(chromedp.Focus(link), js(`window.scrollTo(0, 300); window.marked = true`))
	r.transition(offered.ID, renewal.Change{Op: "t1", To: renewal.Accepted})
	b.holds("the new state", fmt.Sprintf(`document.querySelector('tr[data-key="%s"] .badge').textContent === "Accepted"`, offered.ID))
	if !eval[bool](b, fmt.Sprintf(`document.activeElement === document.querySelector('%s') && window.marked && window.scrollY > 200`, link)) {
		t.Error("the live update lost focus or scroll, or loaded the page anew")
	}
	if spoken := eval[string](b, `document.getElementById("spoken").textContent`); spoken == "" {
		t.Error("nothing was said to screen readers")
	}
	b.shoot("list-live")
}

func (r *rig) transition(id string, c renewal.Change) renewal.Saga {
	r.t.Helper()
	saga, err := r.app.Store().Transition(r.t.Context(), id, c)
	if err != nil {
		r.t.Fatal(err)
	}
	return saga
}

func TestMoveFromTheDetailPage(t *testing.T) {
	r := newRig(t, app.Options{})
	b := r.browse(1280, 900)
	saga := r.one("offered")
	b.open("/leasing/renewals/" + saga.LeaseID)
	b.do(chromedp.SendKeys("#text", "Called: they stay <b>for sure</b>"))
	b.shoot("detail")
	b.do(chromedp.Click("#to-accepted"))
	b.holds("the move", `document.querySelector(".now .badge").textContent === "Accepted"`)
	if got := eval[string](b, `document.querySelector("#timeline li p").textContent`); got != "Called: they stay <b>for sure</b>" {
		t.Errorf("the note reads %q", got)
	}
	b.shoot("detail-moved")
	b.open("/leasing/renewals?state=accepted&limit=100")
	b.holds("the own move on the list", fmt.Sprintf(`!!document.querySelector('tr[data-key="%s"]')`, saga.ID))
	b.open("/leasing/renewals/no-such-lease")
	b.shoot("not-found")
	if got := eval[string](b, `document.querySelector("h1").textContent`); got != "No renewal here" {
		t.Errorf("an absent lease shows %q", got)
	}
}

func TestConflictInTwoTabs(t *testing.T) {
	r := newRig(t, app.Options{})
	one := r.browse(1280, 900)
	saga := r.one("offered")
	two := r.browse(1280, 900)
	for _, b := range []*browser{one, two} {
		b.open("/leasing/renewals/" + saga.LeaseID)
	}
	two.do(chromedp.SendKeys("#text", "they want a cat"), js(`document.getElementById("live").dataset.frozen = document.querySelector("[name=version]").value`))
	one.do(chromedp.Click("#to-accepted"))
	one.holds("the first tab's move", `document.querySelector(".now .badge").textContent === "Accepted"`)
	// The second tab decided on what it saw before the first one moved.
	two.do(js(`(() => { const f = document.getElementById("move"); f.querySelector("[name=version]").value = f.querySelector("#live").dataset.frozen;
		f.querySelector("[name=from]").value = "offered"; const b = document.createElement("input"); b.type = "hidden"; b.name = "to"; b.value = "declined"; f.append(b); f.submit(); })()`))
	two.holds("the conflict", `!!document.getElementById("conflict") && document.querySelector(".now .badge").textContent === "Accepted"`)
	if kept := eval[string](two, `document.getElementById("text").value`); kept != "they want a cat" {
		t.Errorf("what was typed is now %q", kept)
	}
	two.shoot("conflict")
	if now, err := r.app.Store().Saga(t.Context(), saga.ID); err != nil || now.State != renewal.Accepted {
		t.Errorf("the renewal is %s, %v; want accepted", now.State, err)
	}
}

func TestThrottleStormShowsTheLastGoodAnswer(t *testing.T) {
	r := newRig(t, app.Options{Fresh: time.Second})
	b := r.browse(1280, 900)
	b.open("/leasing/renewals")
	b.holds("a list", rows+" === 25")
	storm := r.db.Inject(emulator.Fault{Kind: emulator.FaultThrottle})
	b.holds("the notice", `!document.getElementById("notice").hidden`)
	b.shoot("throttled-list")
	if eval[int](b, rows) != 25 {
		t.Error("the storm emptied the list")
	}
	saga := r.list("").Items[0]
	b.open("/leasing/renewals/" + saga.LeaseID)
	if got := eval[string](b, `document.querySelector("h1").textContent`); got == "" || !eval[bool](b, `!!document.querySelector(".banner.wait:not([hidden])")`) {
		t.Errorf("the renewal's page in a storm shows %q", got)
	}
	b.shoot("throttled-detail")
	b.open("/leasing/renewals")
	r.db.Withdraw(storm)
	b.holds("live again", `document.getElementById("notice").hidden && document.getElementById("status").classList.contains("live")`)
}

func TestKeyboardAlone(t *testing.T) {
	r := newRig(t, app.Options{})
	b := r.browse(1280, 900)
	saga := r.one("offered")
	b.open("/leasing/renewals")
	b.do(chromedp.KeyEvent(kb.Tab))
	if got := eval[string](b, `document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop is %q, want the skip link", got)
	}
	b.shoot("keyboard-skip")
	b.do(chromedp.KeyEvent("/"), chromedp.KeyEvent(saga.LeaseID))
	b.holds("one row", rows+" === 1")
	for i := 0; !eval[bool](b, `document.activeElement.closest("tr[data-key]") !== null`); i++ {
		if i > 10 {
			t.Fatal("no way from the search to the row")
		}
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	b.shoot("keyboard-row")
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#move"))
	for i := 0; !eval[bool](b, `document.activeElement.id === "to-accepted"`); i++ {
		if i > 20 {
			t.Fatal("no way to the button")
		}
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	b.shoot("keyboard-button")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.holds("the move", `document.querySelector(".now .badge")?.textContent === "Accepted"`)
}

func TestNarrowAndDark(t *testing.T) {
	r := newRig(t, app.Options{})
	b := r.browse(390, 844)
	b.dark()
	saga := r.one("negotiating")
	for name, path := range map[string]string{"list": "/leasing/renewals", "detail": "/leasing/renewals/" + saga.LeaseID, "ops": "/ops"} {
		b.open(path)
		if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			t.Errorf("%s is %d pixels too wide for a phone", name, over)
		}
		b.shoot("phone-dark-" + name)
	}
	wide := r.browse(1280, 900)
	wide.dark()
	wide.open("/ops")
	wide.shoot("ops-dark")
}

// TestNothingHostileRuns: what tenants write is text wherever it is shown.
func TestNothingHostileRuns(t *testing.T) {
	r := newRig(t, app.Options{})
	saga := r.one("offered")
	hostile := `<img src=x onerror="window.owned=1"><script>window.owned=1</script>`
	answer := r.postJSON("/inbound/message", map[string]any{"id": "h1", "personId": saga.PersonID, "leaseId": saga.LeaseID, "text": hostile, "intent": "question", "by": "<i>x"})
	if answer.StatusCode != 200 {
		t.Fatalf("message: %d %s", answer.StatusCode, answer.text)
	}
	b := r.browse(1280, 900)
	b.open("/leasing/renewals/" + saga.LeaseID)
	if got := eval[string](b, `document.querySelector("#timeline li p").textContent`); got != hostile {
		t.Errorf("the text reads %q", got)
	}
	if eval[bool](b, `window.owned === 1`) {
		t.Error("a tenant's text was run")
	}
	b.open("/leasing/renewals?q=" + "%3Cscript%3Ewindow.owned%3D1%3C%2Fscript%3E")
	if eval[bool](b, `window.owned === 1`) {
		t.Error("a search was run")
	}
}
