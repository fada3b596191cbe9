package attr

// InvalidError: a value is well-formed on the wire but the service does not
// accept it. Message is the service's, for a ValidationException. Do not retry.
type InvalidError struct {
	Message string

	// Older is how operations put it that the service has not moved to its newer
	// checks: BatchWriteItem, Scan and the transactions. It is never empty.
	Older string

	// Deep: a value nests so deep that the newer checks leave it to the older.
	Deep bool
}

func invalid(message string) *InvalidError { return &InvalidError{Message: message, Older: message} }

func (e *InvalidError) Error() string { return e.Message }

// SyntaxError: the bytes are not the JSON that the service's protocol asks for.
// Message is the service's, for a SerializationException. Do not retry.
type SyntaxError struct{ Message string }

func (e *SyntaxError) Error() string { return e.Message }

const parametersInvalid = "One or more parameter values were invalid: "

// What the service says of values that it does not accept.
const (
	messageEmpty      = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	messageManyKinds  = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
	messageNullFalse  = parametersInvalid + "Null attribute value types must have the value of true"
	messageEmptySS    = parametersInvalid + "An string set  may not be empty"
	messageEmptyNS    = parametersInvalid + "An number set  may not be empty"
	messageEmptyBS    = parametersInvalid + "Binary sets should not be empty"
	messageDuplicates = "Input collection contains duplicates"
	messageTwice      = parametersInvalid + "Input collection contains duplicates."
	messageNoName     = "Empty attribute name"
	messageNameSize   = "Attribute name is too large, must be less than 65536 bytes"
	messageNesting    = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"

	messageNotNumber = "The parameter cannot be converted to a numeric value"
	messageOverflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	messageUnderflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	messagePrecision = "Attempting to store more than 38 significant digits in a Number"
)

// ErrNesting: a value nests deeper than the service allows. Do not retry.
var ErrNesting error = invalid(messageNesting)

// DepthMax is the largest Depth of a value that an item may hold: 32 levels, of
// which the attribute itself is the first.
const DepthMax = 31

// nameBytesMax is the longest name of an attribute.
const nameBytesMax = 65535

// deepMin is the depth of a value from which the service's older checks answer.
const deepMin = 62
