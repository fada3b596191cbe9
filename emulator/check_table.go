package emulator

import (
	"fmt"
	"slices"
	"strings"
)

const (
	indexesGlobalMax     = 20
	indexesLocalMax      = 5
	indexHashAttrsMax    = 4
	indexSortAttrsMax    = 4
	throughputUnitsMax   = 1_000_000_000_000
	invalidValuesPrefix  = "One or more parameter values were invalid: "
	projectedAttrsMax    = 100
	projectedPerIndexMax = 20
)

func invalidValues(format string, args ...any) error {
	return invalid(invalidValuesPrefix + fmt.Sprintf(format, args...))
}

func (in *CreateTableInput) check() error {
	if in.TableName == nil {
		return invalid("The parameter 'TableName' is required but was not present in the request")
	}
	var c constraints
	c.createName(*in.TableName)
	c.definitions(in.AttributeDefinitions, true)
	c.keySchema(in.KeySchema, "keySchema", 2)
	c.enum(in.BillingMode, "billingMode", "PROVISIONED", "PAY_PER_REQUEST")
	c.provisioned(in.ProvisionedThroughput, "provisionedThroughput")
	c.enum(in.TableClass, "tableClass", "STANDARD", "STANDARD_INFREQUENT_ACCESS")
	for i := range in.GlobalSecondaryIndexes {
		c.indexSpec(&in.GlobalSecondaryIndexes[i], fmt.Sprintf("globalSecondaryIndexes.%d.member", i+1), indexHashAttrsMax+indexSortAttrsMax)
	}
	for i := range in.LocalSecondaryIndexes {
		c.indexSpec(&in.LocalSecondaryIndexes[i], fmt.Sprintf("localSecondaryIndexes.%d.member", i+1), 2)
	}
	if err := c.err(); err != nil {
		return err
	}
	switch {
	case in.StreamEnabled != nil && *in.StreamEnabled:
		return Unsupported("StreamSpecification")
	case in.StreamViewType != "":
		return invalidValues("StreamViewType can be specified only when StreamEnabled is true")
	}
	return first(in.checkThroughput(), in.checkKeys(), in.checkIndexes(), in.checkDefinitionsUsed(), checkTags(in.Tags))
}

func (c *constraints) createName(name string) {
	if strings.HasPrefix(name, "arn:") {
		return
	}
	if len(name) < nameLengthMin {
		c.violated("'"+name+"'", "tableName", "Member must have length greater than or equal to 3")
	}
	c.nameText(name, "tableName")
}

func (c *constraints) definitions(list []AttributeDefinition, required bool) {
	if required && !c.required(list != nil, "attributeDefinitions") {
		return
	}
	for i, d := range list {
		path := fmt.Sprintf("attributeDefinitions.%d.member.", i+1)
		if c.required(d.AttributeName != nil, path+"attributeName") {
			c.textLength(*d.AttributeName, path+"attributeName", 1, nameLengthMax)
		}
		if c.required(d.AttributeType != "", path+"attributeType") {
			c.enum(d.AttributeType, path+"attributeType", "B", "N", "S")
		}
	}
}

func (c *constraints) textLength(v, path string, least, most int) {
	switch {
	case len(v) < least:
		c.violated("'"+v+"'", path, fmt.Sprintf("Member must have length greater than or equal to %d", least))
	case len(v) > most:
		c.violated("'"+v+"'", path, fmt.Sprintf("Member must have length less than or equal to %d", most))
	}
}

func (c *constraints) keySchema(key []KeySchemaElement, path string, most int) {
	if !c.required(key != nil, path) {
		return
	}
	if len(key) == 0 {
		c.violated("'[]'", path, "Member must have length greater than or equal to 1")
	}
	if len(key) > most {
		c.violated("'"+spellKey(key)+"'", path, fmt.Sprintf("Member must have length less than or equal to %d", most))
	}
	for i, k := range key {
		member := fmt.Sprintf("%s.%d.member.", path, i+1)
		if c.required(k.AttributeName != nil, member+"attributeName") {
			c.textLength(*k.AttributeName, member+"attributeName", 1, nameLengthMax)
		}
		if c.required(k.KeyType != "", member+"keyType") {
			c.enum(k.KeyType, member+"keyType", "HASH", "RANGE")
		}
	}
}

func spellKey(key []KeySchemaElement) string {
	parts := make([]string, len(key))
	for i, k := range key {
		parts[i] = "KeySchemaElement(attributeName=" + deref(k.AttributeName) + ", keyType=" + k.KeyType + ")"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (c *constraints) provisioned(p *ProvisionedThroughput, path string) {
	if p == nil {
		return
	}
	for _, m := range []struct {
		name  string
		value *int64
	}{{"writeCapacityUnits", p.WriteCapacityUnits}, {"readCapacityUnits", p.ReadCapacityUnits}} {
		if c.required(m.value != nil, path+"."+m.name) && *m.value < 1 {
			c.violated(fmt.Sprintf("'%d'", *m.value), path+"."+m.name, "Member must have value greater than or equal to 1")
		}
	}
}

func (c *constraints) indexSpec(s *IndexSpec, path string, keyMax int) {
	if c.required(s.IndexName != nil, path+".indexName") {
		c.textLength(*s.IndexName, path+".indexName", nameLengthMin, nameLengthMax)
		if !isName(*s.IndexName) {
			c.violated("'"+*s.IndexName+"'", path+".indexName", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
		}
	}
	c.keySchema(s.KeySchema, path+".keySchema", keyMax)
	c.provisioned(s.ProvisionedThroughput, path+".provisionedThroughput")
	if !c.required(s.Projection != nil, path+".projection") {
		return
	}
	c.enum(s.Projection.ProjectionType, path+".projection.projectionType", "ALL", "INCLUDE", "KEYS_ONLY")
	if n := s.Projection.NonKeyAttributes; n != nil && len(n) == 0 {
		c.violated("'[]'", path+".projection.nonKeyAttributes", "Member must have length greater than or equal to 1")
	}
	if n := s.Projection.NonKeyAttributes; slices.ContainsFunc(n, func(name string) bool { return name == "" || len(name) > nameLengthMax }) {
		c.violated("'["+strings.Join(n, ", ")+"]'", path+".projection.nonKeyAttributes", "Member must satisfy constraint: "+
			"[Member must have length less than or equal to 255, Member must have length greater than or equal to 1]")
	}
	if n := s.Projection.NonKeyAttributes; len(n) > projectedPerIndexMax {
		c.violated("'["+strings.Join(n, ", ")+"]'", path+".projection.nonKeyAttributes", "Member must have length less than or equal to 20")
	}
}

func (in *CreateTableInput) checkThroughput() error {
	p := in.ProvisionedThroughput
	if in.BillingMode == "PAY_PER_REQUEST" {
		if p != nil {
			return invalidValues("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
		}
		return nil
	}
	if p == nil {
		return invalidValues("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	}
	if in.OnDemandThroughput != nil {
		return invalidValues("OnDemandThroughput cannot be specified when BillingMode is PROVISIONED")
	}
	return p.checkBounds()
}

func (p *ProvisionedThroughput) checkBounds() error {
	if p == nil {
		return nil
	}
	if *p.ReadCapacityUnits > throughputUnitsMax {
		return invalid(fmt.Sprintf("Given value %d for ReadCapacityUnits is out of bounds", *p.ReadCapacityUnits))
	}
	if *p.WriteCapacityUnits > throughputUnitsMax {
		return invalid(fmt.Sprintf("Given value %d for WriteCapacityUnits is out of bounds", *p.WriteCapacityUnits))
	}
	return nil
}

func keyNames(key []KeySchemaElement) []string {
	names := make([]string, len(key))
	for i, k := range key {
		names[i] = *k.AttributeName
	}
	return names
}

func definedNames(list []AttributeDefinition) []string {
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = *d.AttributeName
	}
	return names
}

func (in *CreateTableInput) checkKeys() error {
	defined := definedNames(in.AttributeDefinitions)
	for i, name := range defined {
		if contains(defined[:i], name) {
			return invalidValues("Duplicate AttributeName in AttributeDefinitions: %s", name)
		}
	}
	keys := keyNames(in.KeySchema)
	if len(keys) > len(defined) {
		return invalid("Invalid KeySchema: Some index key attribute have no definition")
	}
	return first(checkDefined(keys, defined), checkKeyOrder(in.KeySchema, 1, 1))
}

func checkDefined(keys, defined []string) error {
	for _, k := range keys {
		if !contains(defined, k) {
			return invalidValues("Some index key attributes are not defined in AttributeDefinitions. Keys: [%s], AttributeDefinitions: [%s]",
				strings.Join(keys, ", "), strings.Join(defined, ", "))
		}
	}
	return nil
}

// checkKeyOrder checks that hash attributes come first and that none comes twice.
func checkKeyOrder(key []KeySchemaElement, hashMax, sortMax int) error {
	names := keyNames(key)
	for i, n := range names {
		if contains(names[:i], n) && key[i].KeyType == "HASH" {
			return invalid("Invalid KeySchema: Duplicate attribute name in KeySchema: " + n)
		}
		if contains(names[:i], n) {
			return invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
		}
	}
	if key[0].KeyType != "HASH" {
		return invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	hashes := 1
	for hashes < len(key) && key[hashes].KeyType == "HASH" {
		hashes++
	}
	for _, k := range key[hashes:] {
		if k.KeyType != "RANGE" {
			return invalid("Invalid KeySchema: The HASH key types must precede the RANGE key types")
		}
	}
	if hashes > hashMax {
		if hashMax == 1 {
			return invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
		}
		return invalid("Invalid KeySchema: The number of HASH key types exceeds the limit of 4")
	}
	if len(key)-hashes > sortMax {
		return invalid("Invalid KeySchema: The number of RANGE key types exceeds the limit of 4")
	}
	return nil
}

func (in *CreateTableInput) checkIndexes() error {
	names := map[string]bool{}
	defined := definedNames(in.AttributeDefinitions)
	if err := in.checkLocals(names, defined); err != nil {
		return err
	}
	if in.GlobalSecondaryIndexes != nil && len(in.GlobalSecondaryIndexes) == 0 {
		return invalidValues("List of GlobalSecondaryIndexes is empty")
	}
	for i := range in.GlobalSecondaryIndexes {
		if err := in.GlobalSecondaryIndexes[i].checkGlobal(in.BillingMode, names, defined); err != nil {
			return err
		}
	}
	if len(in.GlobalSecondaryIndexes) > indexesGlobalMax {
		return invalidValues("GlobalSecondaryIndex count exceeds the per-table limit of 20")
	}
	projected := 0
	for _, list := range [][]IndexSpec{in.LocalSecondaryIndexes, in.GlobalSecondaryIndexes} {
		for _, s := range list {
			projected += len(s.Projection.NonKeyAttributes)
		}
	}
	if projected > projectedAttrsMax {
		return invalidValues("Number of projected non-key attributes exceeds the per-table limit of 100")
	}
	return nil
}

func (in *CreateTableInput) checkLocals(names map[string]bool, defined []string) error {
	if in.LocalSecondaryIndexes == nil {
		return nil
	}
	if len(in.LocalSecondaryIndexes) == 0 {
		return invalidValues("List of LocalSecondaryIndexes is empty")
	}
	if len(in.KeySchema) != 2 {
		return invalidValues("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
	}
	for i := range in.LocalSecondaryIndexes {
		if err := in.LocalSecondaryIndexes[i].checkLocal(*in.KeySchema[0].AttributeName, names, defined); err != nil {
			return err
		}
	}
	if len(in.LocalSecondaryIndexes) > indexesLocalMax {
		return invalidValues("Number of LocalSecondaryIndexes exceeds per-table limit of 5")
	}
	return nil
}

func (s *IndexSpec) checkLocal(tableHash string, names map[string]bool, defined []string) error {
	if err := first(checkDefined(keyNames(s.KeySchema), defined), checkKeyOrder(s.KeySchema, 1, 1)); err != nil {
		return err
	}
	if len(s.KeySchema) != 2 {
		return invalidValues("Index KeySchema does not have a range key for index: %s", *s.IndexName)
	}
	if hash := *s.KeySchema[0].AttributeName; hash != tableHash {
		return invalidValues("Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. index hash key: %s, table hash key: %s",
			*s.IndexName, hash, tableHash)
	}
	return first(s.checkProjection(), s.checkName(names))
}

func (s *IndexSpec) checkGlobal(billing string, names map[string]bool, defined []string) error {
	if err := first(checkDefined(keyNames(s.KeySchema), defined),
		checkKeyOrder(s.KeySchema, indexHashAttrsMax, indexSortAttrsMax), s.checkProjection()); err != nil {
		return err
	}
	if billing == "PAY_PER_REQUEST" && s.ProvisionedThroughput != nil {
		return invalidValues("ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", *s.IndexName)
	}
	if billing != "PAY_PER_REQUEST" && s.ProvisionedThroughput == nil {
		return invalidValues("ProvisionedThroughput must be specified for index: %s", *s.IndexName)
	}
	return first(s.ProvisionedThroughput.checkBounds(), s.checkName(names))
}

func (s *IndexSpec) checkProjection() error {
	switch p := s.Projection; {
	case p.ProjectionType == "":
		return invalidValues("Unknown ProjectionType: null")
	case p.ProjectionType == "INCLUDE" && len(p.NonKeyAttributes) == 0:
		return invalidValues("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	case p.ProjectionType != "INCLUDE" && p.NonKeyAttributes != nil:
		return invalidValues("ProjectionType is %s, but NonKeyAttributes is specified", p.ProjectionType)
	}
	for i, name := range s.Projection.NonKeyAttributes {
		if contains(s.Projection.NonKeyAttributes[:i], name) {
			return invalidValues("Duplicate attribute name in NonKeyAttributes: %s", name)
		}
	}
	return nil
}

func (s *IndexSpec) checkName(names map[string]bool) error {
	if names[*s.IndexName] {
		return invalidValues("Duplicate index name: %s", *s.IndexName)
	}
	names[*s.IndexName] = true
	return nil
}

// checkDefinitionsUsed refuses definitions of attributes that are no keys.
func (in *CreateTableInput) checkDefinitionsUsed() error {
	used := keyNames(in.KeySchema)
	for _, list := range [][]IndexSpec{in.LocalSecondaryIndexes, in.GlobalSecondaryIndexes} {
		for _, s := range list {
			used = append(used, keyNames(s.KeySchema)...)
		}
	}
	defined := definedNames(in.AttributeDefinitions)
	for _, name := range defined {
		if contains(used, name) {
			continue
		}
		if len(used) == len(in.KeySchema) {
			return invalidValues("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
		}
		return invalidValues("Some AttributeDefinitions are not used. AttributeDefinitions: [%s], keys used: [%s]",
			strings.Join(defined, ", "), strings.Join(distinct(used), ", "))
	}
	return nil
}
