package awsjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
)

func (c *console) listFaults(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, c.db.Faults())
}

// faultRequest is a fault whose delay may be written as 250ms too.
type faultRequest struct {
	emulator.Fault
	Delay delay `json:"delay"`
}

type delay time.Duration

func (d *delay) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		return json.Unmarshal(b, (*time.Duration)(d))
	}
	parsed, err := time.ParseDuration(string(b[1 : len(b)-1]))
	*d = delay(parsed)
	return err
}

var faultKinds = []emulator.FaultKind{emulator.FaultThrottle, emulator.FaultError, emulator.FaultDrop, emulator.FaultDelay, emulator.FaultUnprocessed}

func (f faultRequest) check() error {
	switch {
	case !slices.Contains(faultKinds, f.Kind):
		return fmt.Errorf("kind: %q is none of %q", f.Kind, faultKinds)
	case f.Probability < 0 || f.Probability > 1:
		return errors.New("probability: not between 0 and 1")
	case f.Share < 0 || f.Share > 1:
		return errors.New("share: not between 0 and 1")
	case f.Kind == emulator.FaultDelay && f.Delay <= 0:
		return errors.New(`delay: a fault of kind delay needs one, such as "250ms"`)
	case f.Kind == emulator.FaultUnprocessed && f.Share == 0:
		return errors.New("share: a fault of kind unprocessed needs one, such as 0.2")
	}
	return nil
}

func (c *console) addFault(w http.ResponseWriter, r *http.Request) {
	var f faultRequest
	if !accept(w, r, &f) {
		return
	}
	if err := f.check(); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	f.Fault.Delay = time.Duration(f.Delay)
	respond(w, http.StatusCreated, struct {
		ID int `json:"id"`
	}{c.db.Inject(f.Fault)})
}

// adminBodyMax bounds the body of an admin request.
const adminBodyMax = 64 << 10

// accept decodes the body into to, or answers what is wrong with it.
func accept(w http.ResponseWriter, r *http.Request, to any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, adminBodyMax))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		fail(w, http.StatusBadRequest, "body: "+err.Error())
		return false
	}
	return true
}

func (c *console) removeFault(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || !c.db.Withdraw(id) {
		fail(w, http.StatusNotFound, fmt.Sprintf("no fault %q", r.PathValue("id")))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (c *console) removeFaults(w http.ResponseWriter, _ *http.Request) {
	for _, f := range c.db.Faults() {
		c.db.Withdraw(f.ID)
	}
	w.WriteHeader(http.StatusNoContent)
}

// indexRequest names an index, and which half of its changes to hold: "delete",
// "put", or both when it is empty.
type indexRequest struct {
	Table string `json:"table"`
	Index string `json:"index"`
	Half  string `json:"half"`
}

// halves are the named ones; none at all means both.
func (i indexRequest) halves() ([]emulator.Half, error) {
	switch i.Half {
	case "":
		return nil, nil
	case "delete":
		return []emulator.Half{emulator.HalfDelete}, nil
	case "put":
		return []emulator.Half{emulator.HalfPut}, nil
	}
	return nil, fmt.Errorf("half: %q is neither delete nor put", i.Half)
}

func (c *console) hold(w http.ResponseWriter, r *http.Request) { onIndex(w, r, c.db.HoldIndex) }

func (c *console) release(w http.ResponseWriter, r *http.Request) { onIndex(w, r, c.db.ReleaseIndex) }

func onIndex(w http.ResponseWriter, r *http.Request, do func(table, index string, halves ...emulator.Half) error) {
	var request indexRequest
	if !accept(w, r, &request) {
		return
	}
	halves, err := request.halves()
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if err := do(request.Table, request.Index, halves...); err != nil {
		fail(w, http.StatusNotFound, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// pending tells how many index changes are on their way.
func (c *console) pending(w http.ResponseWriter, r *http.Request) {
	n, err := c.db.PendingIndex(r.FormValue("table"), r.FormValue("index"))
	if err != nil {
		fail(w, http.StatusNotFound, err.Error())
		return
	}
	respond(w, http.StatusOK, struct {
		Pending int `json:"pending"`
	}{n})
}

// reap deletes what has expired, limit=n items at most, and says how many.
func (c *console) reap(w http.ResponseWriter, r *http.Request) {
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	respond(w, http.StatusOK, struct {
		Deleted int `json:"deleted"`
	}{c.db.ReapTTL(limit)})
}

// advanceMax bounds one step of the clock: what a year does not show, a decade
// does not either.
const advanceMax = 366 * 24 * time.Hour

// advance moves the emulator's clock ahead by for=90s.
func (c *console) advance(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.FormValue("for"))
	if err != nil || d <= 0 || d > advanceMax {
		fail(w, http.StatusBadRequest, "for: want a duration such as 90s or 30m, a year at most")
		return
	}
	c.db.Advance(d)
	respond(w, http.StatusOK, struct {
		Now time.Time `json:"now"`
	}{c.db.Now()})
}
