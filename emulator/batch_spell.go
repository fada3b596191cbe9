package emulator

import (
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Constraints on the map of tables of a batch.
const (
	mapNameConstraint = "Map keys must satisfy constraint: [Member must have length less than or equal to 255, " +
		"Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
	mapWritesConstraint = "Map value must satisfy constraint: [Member must have length less than or equal to 25, " +
		"Member must have length greater than or equal to 1]"
)

// isMapName tells whether a name may stand for a table in the map of a batch.
func isMapName(name string) bool {
	return len(name) >= nameLengthMin && len(name) <= nameLengthMax && isName(name) || strings.HasPrefix(name, "arn:")
}

// spell is how the service repeats the tables and keys of a request: as JSON.
func (in *BatchGetItemInput) spell() string {
	text := []byte("{")
	for i, k := range in.RequestItems {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(strconv.AppendQuote(text, k.TableName), `:{"Keys":[`...)
		for j, key := range k.Keys {
			if j > 0 {
				text = append(text, ',')
			}
			text = attr.AppendJSON(text, key)
		}
		text = append(text, "]}"...)
	}
	return string(append(text, '}'))
}

// spell is how the service repeats the writes of a request: as objects of Java.
func (in *BatchWriteItemInput) spell() string {
	var text strings.Builder
	for i, w := range in.RequestItems {
		text.WriteString([...]string{"{", ", "}[min(i, 1)] + w.TableName + "=[")
		for j, r := range w.Requests {
			text.WriteString([...]string{"", ", "}[min(j, 1)] + r.spell())
		}
		text.WriteByte(']')
	}
	return text.String() + "}"
}

func (r WriteRequest) spell() string {
	put, remove := "null", "null"
	if r.PutRequest != nil {
		put = "PutRequest(item=" + spellItem(r.PutRequest.Item) + ")"
	}
	if r.DeleteRequest != nil {
		remove = "DeleteRequest(key=" + spellItem(r.DeleteRequest.Key) + ")"
	}
	return "WriteRequest(putRequest=" + put + ", deleteRequest=" + remove + ")"
}

func spellItem(i attr.Item) string {
	var fields []string
	for name, v := range i.All() {
		fields = append(fields, name+"=AttributeValue("+string(attr.AppendValueJSON(nil, v))+")")
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
