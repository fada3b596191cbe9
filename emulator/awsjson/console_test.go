package awsjson_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

// console asks a route without sockets, from this machine unless remote says
// otherwise.
func console(db *emulator.DB, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host, r.RemoteAddr = "127.0.0.1:8000", "127.0.0.1:4711"
	for i := 0; i < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			r.Host = headers[i+1]
		case "Remote":
			r.RemoteAddr = headers[i+1]
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	awsjson.Handler(db).ServeHTTP(w, r)
	return w
}

func TestConsoleAnswersThisMachineOnly(t *testing.T) {
	db := emulator.New(emulator.Options{})
	for _, c := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"loopback", nil, 200},
		{"localhost", []string{"Host", "localhost:8000"}, 200},
		{"IPv6", []string{"Host", "[::1]:8000", "Remote", "[::1]:99"}, 200},
		{"rebound name", []string{"Host", "evil.example:8000"}, 403},
		{"other machine", []string{"Remote", "192.0.2.7:99"}, 403},
	} {
		for _, path := range []string{"/admin/faults", "/admin/log", "/admin/heat", "/admin/state", "/metrics"} {
			if w := console(db, "GET", path, "", c.headers...); w.Code != c.want {
				t.Errorf("%s: GET %s: %d %s", c.name, path, w.Code, w.Body)
			}
		}
	}
	if w := console(db, "POST", "/admin/faults", `{"kind":"error"}`, "Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"); w.Code != 403 {
		t.Errorf("a foreign page scripts faults: %d", w.Code)
	}
	if w := console(db, "GET", "/admin/faults", "", "Origin", "http://evil.example"); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Error("a foreign page reads the admin routes")
	}
}

func TestScriptedFaults(t *testing.T) {
	db := emulator.New(emulator.Options{})
	for body, want := range map[string]string{
		`{"kind":"explode"}`: "kind", `{"kind":"delay"}`: "delay", `{"kind":"delay","delay":"soon"}`: "soon", `{"kind":"unprocessed"}`: "share",
		`{"kind":"error","probability":2}`: "probability", `{"kind":"error","prob":1}`: "prob", `nonsense`: "body",
	} {
		if w := console(db, "POST", "/admin/faults", body); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := console(db, "POST", "/admin/faults", `{"kind":"error","operation":"ListTables","count":1}`); w.Code != 201 || strings.TrimSpace(w.Body.String()) != `{"id":1}` {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	console(db, "POST", "/admin/faults", `{"kind":"delay","delay":"250ms"}`)
	if faults := db.Faults(); len(faults) != 2 || faults[1].Delay != 250*time.Millisecond {
		t.Fatalf("%+v", faults)
	}
	for path, want := range map[string]int{"/admin/faults/1": 204, "/admin/faults/7": 404, "/admin/faults/x": 404} {
		if w := console(db, "DELETE", path, ""); w.Code != want {
			t.Errorf("DELETE %s: %d", path, w.Code)
		}
	}
	if w := console(db, "DELETE", "/admin/faults", ""); w.Code != 204 || len(db.Faults()) != 0 {
		t.Errorf("%d, %+v left", w.Code, db.Faults())
	}
}

func TestHoldOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := emulator.New(emulator.Options{})
		c := inProcess(db)
		createTable(t, c)
		hold := func(route, half string) {
			if w := console(db, "POST", route, `{"table":"sagas","index":"GSI4","half":"`+half+`"}`); w.Code != 204 {
				t.Fatalf("%s %s: %d %s", route, half, w.Code, w.Body)
			}
		}
		pending := func() string {
			return strings.TrimSpace(console(db, "GET", "/admin/pending?table=sagas&index=GSI4", "").Body.String())
		}
		hold("/admin/hold", "put")
		if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sagas"), Item: saga("1")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := pending(); got != `{"pending":1}` {
			t.Errorf("held: %s", got)
		}
		hold("/admin/release", "")
		time.Sleep(time.Minute)
		if got := pending(); got != `{"pending":0}` {
			t.Errorf("released: %s", got)
		}
		for _, body := range []string{`{"table":"sagas","index":"none"}`, `{"table":"sagas","index":"GSI4","half":"both"}`} {
			if w := console(db, "POST", "/admin/hold", body); w.Code != 404 && w.Code != 400 {
				t.Errorf("%s: %d", body, w.Code)
			}
		}
	})
}

func TestSight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := emulator.New(emulator.Options{})
		c := inProcess(db)
		createTable(t, c)
		once := func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }
		refused := 0
		for n := range 1100 {
			if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sagas"), Item: saga(strconv.Itoa(n))}, once); err != nil {
				refused++
			}
		}
		metrics := console(db, "GET", "/metrics", "").Body.String()
		for _, want := range []string{
			"# TYPE WriteThrottleEvents counter\n",
			`ConsumedWriteCapacityUnits{TableName="sagas",GlobalSecondaryIndexName="GSI4"} `,
			`WriteKeyRangeThroughputThrottleEvents{TableName="sagas",GlobalSecondaryIndexName="GSI4"} `,
			`hotsplit_partition_units_total{TableName="sagas",GlobalSecondaryIndexName="GSI4",partition="`,
		} {
			if !strings.Contains(metrics, want) {
				t.Errorf("metrics lack %s", want)
			}
		}
		lines := strings.Split(strings.TrimSpace(console(db, "GET", "/admin/log?since=1", "").Body.String()), "\n")
		if len(lines) != 1100 {
			t.Fatalf("%d log lines", len(lines))
		}
		var first struct {
			Sequence  int
			Operation string
			Units     []struct{ Table, Key string }
		}
		if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Sequence != 2 || first.Operation != "PutItem" || first.Units[0].Table != "sagas" {
			t.Errorf("first line %s: %v", lines[0], err)
		}
		time.Sleep(time.Second)
		state := console(db, "GET", "/admin/state?since=1", "").Body.String()
		for _, want := range []string{`"index":"GSI4"`, `"key":"RenewalSaga"`} {
			if !strings.Contains(state, want) {
				t.Errorf("state lacks %s", want)
			}
		}
		if refused == 0 || !strings.Contains(state, `"reason":"IndexWriteKeyRangeThroughputExceeded"`) {
			t.Errorf("%d refused; state %s", refused, state[strings.Index(state, "throttles"):])
		}
		if heat := console(db, "GET", "/admin/heat?seconds=5", "").Body.String(); !strings.Contains(heat, `"ceiling":{"read":3000,"write":1000}`) {
			t.Errorf("heat %.300s", heat)
		}
	})
}

func TestReapOverHTTP(t *testing.T) {
	if w := console(emulator.New(emulator.Options{}), "POST", "/admin/reap?limit=5", ""); strings.TrimSpace(w.Body.String()) != `{"deleted":0}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPageLoadsNothingFromElsewhere(t *testing.T) {
	w := console(emulator.New(emulator.Options{}), "GET", "/", "", "Accept", "text/html")
	body := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	for _, foreign := range []string{"http://", "https://", "src=\"//", "url("} {
		if strings.Contains(body, foreign) {
			t.Errorf("the page mentions %s", foreign)
		}
	}
}

// Without waiting, a second passes for the index and 30 minutes for the table.
func TestAdvance(t *testing.T) {
	db := emulator.New(emulator.Options{LagMin: time.Minute, LagMax: time.Minute})
	c := inProcess(db)
	createTable(t, c)
	if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sagas"), Item: saga("1")}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target, pending string
		code            int
	}{
		{"/admin/advance?for=soon", `{"pending":1}`, 400},
		{"/admin/advance?for=-5m", `{"pending":1}`, 400},
		{"/admin/advance?for=61s", `{"pending":0}`, 200},
	} {
		w := console(db, "POST", c.target, "")
		got := strings.TrimSpace(console(db, "GET", "/admin/pending?table=sagas&index=GSI4", "").Body.String())
		if w.Code != c.code || got != c.pending {
			t.Errorf("%s: %d, then %s", c.target, w.Code, got)
		}
	}
}
