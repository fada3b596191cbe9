package temporalsaga

import (
	"context"
	"fmt"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/temporal"
)

// Search attributes of a renewal, for lists and for the health sweep.
var (
	attributeState    = temporal.NewSearchAttributeKeyKeyword("RenewalState")
	attributeLease    = temporal.NewSearchAttributeKeyKeyword("RenewalLease")
	attributePerson   = temporal.NewSearchAttributeKeyKeyword("RenewalPerson")
	attributeProperty = temporal.NewSearchAttributeKeyKeyword("RenewalProperty")
	attributeEnds     = temporal.NewSearchAttributeKeyTime("RenewalLeaseEnds")
)

func (l Lease) attributes() temporal.SearchAttributes {
	return temporal.NewSearchAttributes(
		attributeLease.ValueSet(l.ID),
		attributePerson.ValueSet(l.PersonID),
		attributeProperty.ValueSet(l.PropertyID),
		attributeEnds.ValueSet(l.Ends.UTC()),
	)
}

// EnsureAttributes registers the search attributes in the namespace; those that
// are there already are left alone.
func (c *Client) EnsureAttributes(ctx context.Context) error {
	want := map[string]enums.IndexedValueType{
		attributeState.GetName():    enums.INDEXED_VALUE_TYPE_KEYWORD,
		attributeLease.GetName():    enums.INDEXED_VALUE_TYPE_KEYWORD,
		attributePerson.GetName():   enums.INDEXED_VALUE_TYPE_KEYWORD,
		attributeProperty.GetName(): enums.INDEXED_VALUE_TYPE_KEYWORD,
		attributeEnds.GetName():     enums.INDEXED_VALUE_TYPE_DATETIME,
	}
	known, err := c.temporal.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: c.namespace})
	if err != nil {
		return fmt.Errorf("list search attributes of %s: %w", c.namespace, err)
	}
	for name := range known.GetCustomAttributes() {
		delete(want, name)
	}
	if len(want) == 0 {
		return nil
	}
	_, err = c.temporal.OperatorService().AddSearchAttributes(ctx,
		&operatorservice.AddSearchAttributesRequest{Namespace: c.namespace, SearchAttributes: want})
	if err != nil {
		return fmt.Errorf("register search attributes in %s: %w", c.namespace, err)
	}
	return nil
}
