package proof

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// The mutants. Those of a member's code wrap what it goes by; those of a runner
// change its requests and answers on the wire, so that the product needs no seam.
const (
	mutantNoMoving  Mutant = "readers-ignore-the-moving-set"
	mutantNoRecheck Mutant = "readers-never-look-at-the-bound-again"
	mutantStaleView Mutant = "readers-keep-their-first-view"
	mutantReadsOld  Mutant = "readers-ask-the-first-layout-alone"
	mutantReadsNew  Mutant = "readers-ask-the-last-layout-alone"
	mutantNoConfirm Mutant = "writers-do-not-confirm"
	mutantKeptStamp Mutant = "writers-keep-their-stamps"

	mutantNoRowCondition Mutant = "moves-without-condition"
	mutantNoFence        Mutant = "moves-without-fence"
	mutantNoLease        Mutant = "record-edits-without-condition"
	mutantShortBound     Mutant = "runner-waits-a-tenth-of-the-bound"
	mutantForgedMembers  Mutant = "runner-believes-every-member"
	mutantShortAndForged Mutant = "runner-neither-waits-nor-asks"
	mutantBlindScan      Mutant = "runner-sees-no-base-rows"
	mutantBlindIndex     Mutant = "runner-sees-no-index-entries"
	mutantDropsPayload   Mutant = "moves-drop-an-attribute"
	mutantWrongKey       Mutant = "moves-to-one-shard"
	mutantHalfMoves      Mutant = "moves-are-answered-and-not-made"
	mutantUpsert         Mutant = "moves-upsert-rows"
	mutantTouches        Mutant = "moves-raise-the-version"
)

// Mutants lists them all.
func Mutants() []Mutant {
	return []Mutant{
		mutantNoMoving, mutantNoRecheck, mutantStaleView, mutantReadsOld, mutantReadsNew, mutantNoConfirm, mutantKeptStamp,
		mutantNoRowCondition, mutantNoFence, mutantNoLease, mutantShortBound, mutantForgedMembers, mutantShortAndForged, mutantBlindScan, mutantBlindIndex,
		mutantDropsPayload, mutantWrongKey, mutantHalfMoves, mutantUpsert, mutantTouches,
	}
}

var wireMutants = map[Mutant]wireChange{
	mutantNoRowCondition: {of: "runner", request: func(op string, body map[string]any) {
		rowUpdates(op, body, func(u map[string]any) { dropCondition(u, "attribute_exists(#b)", "#o", ":o", ":at") }, always)
	}},
	mutantUpsert: {of: "runner", request: func(op string, body map[string]any) {
		rowUpdates(op, body, func(u map[string]any) { dropCondition(u, "", "#b", "#o", ":o", ":at") }, always)
	}},
	mutantNoFence: {of: "runner", request: func(op string, body map[string]any) {
		rows := false
		rowUpdates(op, body, func(map[string]any) { rows = true }, always)
		if rows {
			rowUpdates(op, body, func(map[string]any) {}, func(action map[string]any) bool { return action["ConditionCheck"] == nil })
		}
	}},
	mutantDropsPayload: {of: "runner", request: func(op string, body map[string]any) {
		rowUpdates(op, body, func(u map[string]any) { u["UpdateExpression"] = "SET #k = :to REMOVE payload" }, always)
	}},
	mutantTouches: {of: "runner", request: func(op string, body map[string]any) {
		rowUpdates(op, body, func(u map[string]any) {
			u["UpdateExpression"] = "SET #k = :to ADD version :at1"
			u["ExpressionAttributeValues"].(map[string]any)[":at1"] = map[string]any{"N": "1"}
		}, always)
	}},
	mutantWrongKey: {of: "runner", request: func(op string, body map[string]any) {
		rowUpdates(op, body, func(u map[string]any) {
			to := u["ExpressionAttributeValues"].(map[string]any)[":to"].(map[string]any)
			if base, _, sharded := strings.Cut(to["S"].(string), "#"); sharded {
				to["S"] = base + "#0"
			}
		}, always)
	}},
	mutantHalfMoves: {of: "runner", swallow: func(op string, body map[string]any) bool {
		rows := false
		rowUpdates(op, body, func(map[string]any) { rows = true }, always)
		return rows
	}},
	mutantNoLease: {of: "runner", request: func(op string, body map[string]any) {
		if op == "UpdateItem" && named(body, "RECORD") && body["ConditionExpression"] != nil {
			unconditional(body)
		}
	}},
	mutantShortBound:     {of: "runner", answer: func(_ string, _, body map[string]any) { walk(body, shortBounds) }},
	mutantForgedMembers:  {of: "runner", answer: func(_ string, _, body map[string]any) { walk(body, forgeMember) }},
	mutantShortAndForged: {of: "runner", answer: func(_ string, _, body map[string]any) { walk(body, shortBounds); walk(body, forgeMember) }},
	mutantBlindScan: {of: "runner", answer: func(op string, _, body map[string]any) {
		if op == "Scan" {
			body["Items"], body["Count"] = []any{}, 0
		}
	}},
	mutantBlindIndex: {of: "runner", answer: func(op string, request, body map[string]any) {
		if op == "Query" && request["IndexName"] != nil {
			body["Items"], body["Count"] = []any{}, 0
		}
	}},
}

// dropCondition puts another condition on an update, "" for none, and drops the
// placeholders that are no longer used.
func dropCondition(update map[string]any, condition string, unused ...string) {
	delete(update, "ConditionExpression")
	if condition != "" {
		update["ConditionExpression"] = condition
	}
	for _, name := range unused {
		delete(update["ExpressionAttributeNames"].(map[string]any), name)
		delete(update["ExpressionAttributeValues"].(map[string]any), name)
	}
}

// unconditional drops an update's condition and what only that used.
func unconditional(update map[string]any) {
	delete(update, "ConditionExpression")
	text := update["UpdateExpression"].(string) + " "
	for _, member := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		values, _ := update[member].(map[string]any)
		for name := range values {
			if !usesPlaceholder(text, name) {
				delete(values, name)
			}
		}
	}
}

func usesPlaceholder(text, name string) bool {
	for at := strings.Index(text, name); at >= 0; {
		end := at + len(name)
		if c := text[end]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_') {
			return true
		}
		next := strings.Index(text[end:], name)
		if next < 0 {
			return false
		}
		at = end + next
	}
	return false
}

func shortBounds(object map[string]any) {
	for _, name := range []string{"staleMillis", "priorStaleMillis", "staleIdleMillis"} {
		if v, ok := object[name].(map[string]any); ok && v["N"] != nil {
			v["N"] = "50"
		}
	}
}

func forgeMember(object map[string]any) {
	if object["id"] == nil || object["beat"] == nil {
		return
	}
	for _, name := range []string{"generation", "moving"} {
		object[name] = map[string]any{"N": "1000000"}
	}
}

// wireChange rewrites a request's or an answer's JSON. A nil member leaves it.
type wireChange struct {
	of      string // prefix of the processes' names that it strikes
	request func(operation string, body map[string]any)
	answer  func(operation string, request, body map[string]any)
	swallow func(operation string, body map[string]any) bool // answer {} and send nothing
}

func (c wireChange) strikes(process string) bool { return strings.HasPrefix(process, c.of) }

type wireMutant struct {
	next   http.RoundTripper
	change wireChange
}

func (w *wireMutant) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var request map[string]any
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &request); err != nil {
		return nil, err
	}
	if w.change.swallow != nil && w.change.swallow(operation, request) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
			Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
	}
	if w.change.request != nil {
		w.change.request(operation, request)
		if text, err = json.Marshal(request); err != nil {
			return nil, err
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	response, err := w.next.RoundTrip(r)
	if err != nil || response.StatusCode != 200 || w.change.answer == nil {
		return response, err
	}
	return w.answer(operation, request, response)
}

func (w *wireMutant) answer(operation string, request map[string]any, response *http.Response) (*http.Response, error) {
	text, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, err
	}
	w.change.answer(operation, request, body)
	if text, err = json.Marshal(body); err != nil {
		return nil, err
	}
	response.Header.Del("X-Amz-Crc32")
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return response, nil
}

// rowUpdates calls do with each update of a row in a transaction, and leaves the
// actions that keep says.
func rowUpdates(operation string, body map[string]any, do func(update map[string]any), keep func(action map[string]any) bool) {
	actions, _ := body["TransactItems"].([]any)
	if operation != "TransactWriteItems" {
		return
	}
	kept := make([]any, 0, len(actions))
	for _, a := range actions {
		action, _ := a.(map[string]any)
		if update, ok := action["Update"].(map[string]any); ok && isRow(update) {
			do(update)
		}
		if keep(action) {
			kept = append(kept, action)
		}
	}
	body["TransactItems"] = kept
}

func always(map[string]any) bool { return true }

func isRow(request map[string]any) bool {
	key, _ := request["Key"].(map[string]any)
	sort, _ := key["SK"].(map[string]any)
	return sort["S"] == "META"
}

// named says that a request is about an item of the move whose name begins so.
func named(body map[string]any, prefix string) bool {
	key, _ := body["Key"].(map[string]any)
	sort, _ := key["SK"].(map[string]any)
	name, _ := sort["S"].(string)
	return strings.HasPrefix(name, prefix)
}

// walk calls do with every object in v.
func walk(v any, do func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		do(v)
		for _, child := range v {
			walk(child, do)
		}
	case []any:
		for _, child := range v {
			walk(child, do)
		}
	}
}
