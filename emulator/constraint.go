package emulator

import (
	"strconv"
	"strings"
)

// constraints collects violations of the API model, which the service reports
// together and before anything else.
type constraints struct{ found []string }

// violated notes a violation. value is what was there, in quotes, or null.
func (c *constraints) violated(value, path, constraint string) {
	c.found = append(c.found, "Value "+value+" at '"+path+"' failed to satisfy constraint: "+constraint)
}

// unnamed notes a violation in the wording that does not repeat the value.
func (c *constraints) unnamed(path, constraint string) {
	c.found = append(c.found, "Value at '"+path+"' failed to satisfy constraint: "+constraint)
}

func (c *constraints) required(present bool, path string) bool {
	if !present {
		c.violated("null", path, "Member must not be null")
	}
	return present
}

// violationsMax is how many violations the service reports at most.
const violationsMax = 10

func (c *constraints) err() error {
	n := len(c.found)
	if n == 0 {
		return nil
	}
	n = min(n, violationsMax)
	plural := ""
	if n > 1 {
		plural = "s"
	}
	return invalid(strconv.Itoa(n) + " validation error" + plural + " detected: " + strings.Join(c.found[:n], "; "))
}

// enum checks an optional member with a fixed set of values.
func (c *constraints) enum(value, path string, allowed ...string) {
	if value == "" {
		return
	}
	for _, a := range allowed {
		if a == value {
			return
		}
	}
	c.violated("'"+value+"'", path, "Member must satisfy enum value set: ["+strings.Join(allowed, ", ")+"]")
}

const (
	nameLengthMin = 3
	nameLengthMax = 255
	arnLengthMax  = 1024
)

// tableName checks the name or ARN of an existing table.
func (c *constraints) tableName(name *string) {
	if !c.required(name != nil, "tableName") {
		return
	}
	n := *name
	switch {
	case n == "":
		c.unnamed("TableName", "Member must have length greater than or equal to 1")
	case strings.HasPrefix(n, "arn:"):
		if len(n) > arnLengthMax {
			c.violated("'"+n+"'", "tableName", "Member must have length less than or equal to 1024")
		}
	default:
		if len(n) < nameLengthMin {
			c.violated("'"+n+"'", "tableName", "Member must have length greater than or equal to 3")
		}
		c.nameText(n, "tableName")
	}
}

// indexName checks an index name, which has a lower bound too.
func (c *constraints) indexName(name *string) {
	if name == nil {
		return
	}
	if len(*name) < nameLengthMin {
		c.violated("'"+*name+"'", "indexName", "Member must have length greater than or equal to 3")
	}
	c.nameText(*name, "indexName")
}

func (c *constraints) nameText(n, path string) {
	if len(n) > nameLengthMax {
		c.violated("'"+n+"'", path, "Member must have length less than or equal to 255")
	}
	if !isName(n) {
		c.violated("'"+n+"'", path, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
}

func isName(s string) bool {
	for i := range len(s) {
		b := s[i]
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '_', b == '.', b == '-':
		default:
			return false
		}
	}
	return s != ""
}

func (c *constraints) returnConsumedCapacity(v string) {
	c.enum(v, "returnConsumedCapacity", "INDEXES", "TOTAL", "NONE")
}

func (c *constraints) returnItemCollectionMetrics(v string) {
	c.enum(v, "returnItemCollectionMetrics", "SIZE", "NONE")
}

func (c *constraints) returnValues(v string) {
	c.enum(v, "returnValues", "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
}

func (c *constraints) returnOnFailure(v string) {
	c.enum(v, "returnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
}

func (c *constraints) selection(v string) {
	c.enum(v, "select", "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
}

// first returns the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
