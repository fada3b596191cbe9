package awsjson

import (
	"strings"

	"github.com/hotsplit/hotsplit/emulator"
)

func writeDescribeTable(w *writer, out *emulator.TableOutput) { w.table("Table", out.Table) }

func writeTable(w *writer, out *emulator.TableOutput) { w.table("TableDescription", out.Table) }

func (w *writer) table(name string, t *emulator.TableDescription) {
	w.member(name)
	w.open('{')
	defer w.close('}')
	w.string("TableName", t.TableName)
	w.string("TableArn", t.TableARN)
	w.string("TableId", t.TableID)
	w.string("TableStatus", t.TableStatus)
	w.time("CreationDateTime", t.CreationDateTime)
	if t.AttributeDefinitions != nil {
		list(w, "AttributeDefinitions", t.AttributeDefinitions, attributeDefinition)
	}
	if t.KeySchema != nil {
		list(w, "KeySchema", t.KeySchema, keySchemaElement)
	}
	w.int("ItemCount", t.ItemCount)
	w.int("TableSizeBytes", t.TableSizeBytes)
	w.billing(t)
	w.provisioned(t.ProvisionedThroughput)
	w.throughput(t.OnDemandThroughput, t.WarmThroughput)
	if len(t.GlobalSecondaryIndexes) > 0 {
		list(w, "GlobalSecondaryIndexes", t.GlobalSecondaryIndexes, globalIndex)
	}
	if len(t.LocalSecondaryIndexes) > 0 {
		list(w, "LocalSecondaryIndexes", t.LocalSecondaryIndexes, localIndex)
	}
	if t.TableClass != "" {
		w.member("TableClassSummary")
		w.open('{')
		w.string("TableClass", t.TableClass)
		w.close('}')
	}
	w.bool("DeletionProtectionEnabled", t.DeletionProtectionEnabled)
	if t.SSEEnabled {
		w.member("SSEDescription")
		w.open('{')
		w.string("Status", "ENABLED")
		w.string("SSEType", "KMS")
		w.string("KMSMasterKeyArn", keyARN(t))
		w.close('}')
	}
}

// keyARN is the key that a table would be encrypted with, if anything were.
func keyARN(t *emulator.TableDescription) string {
	resource, _, _ := strings.Cut(t.TableARN, ":table/")
	return strings.Replace(resource, ":dynamodb:", ":kms:", 1) + ":key/" + t.TableID
}

func (w *writer) billing(t *emulator.TableDescription) {
	if t.BillingMode != "PAY_PER_REQUEST" {
		return
	}
	w.member("BillingModeSummary")
	w.open('{')
	w.string("BillingMode", t.BillingMode)
	if !t.LastUpdateToPayPerRequest.IsZero() {
		w.time("LastUpdateToPayPerRequestDateTime", t.LastUpdateToPayPerRequest)
	}
	w.close('}')
}

func (w *writer) provisioned(p emulator.ProvisionedThroughputDescription) {
	w.member("ProvisionedThroughput")
	w.open('{')
	if !p.LastIncreaseDateTime.IsZero() {
		w.time("LastIncreaseDateTime", p.LastIncreaseDateTime)
	}
	if !p.LastDecreaseDate.IsZero() {
		w.time("LastDecreaseDateTime", p.LastDecreaseDate)
	}
	w.int("NumberOfDecreasesToday", p.NumberOfDecreasesToday)
	w.int("ReadCapacityUnits", p.ReadCapacityUnits)
	w.int("WriteCapacityUnits", p.WriteCapacityUnits)
	w.close('}')
}

func (w *writer) throughput(onDemand *emulator.OnDemandThroughput, warm *emulator.WarmThroughput) {
	if onDemand != nil {
		w.member("OnDemandThroughput")
		w.open('{')
		w.optionalInt("MaxReadRequestUnits", onDemand.MaxReadRequestUnits)
		w.optionalInt("MaxWriteRequestUnits", onDemand.MaxWriteRequestUnits)
		w.close('}')
	}
	if warm != nil {
		w.member("WarmThroughput")
		w.open('{')
		w.optionalInt("ReadUnitsPerSecond", warm.ReadUnitsPerSecond)
		w.optionalInt("WriteUnitsPerSecond", warm.WriteUnitsPerSecond)
		w.text("Status", warm.Status)
		w.close('}')
	}
}

func (w *writer) optionalInt(name string, n *int64) {
	if n != nil {
		w.int(name, *n)
	}
}

func attributeDefinition(w *writer, d *emulator.AttributeDefinition) {
	w.string("AttributeName", deref(d.AttributeName))
	w.string("AttributeType", d.AttributeType)
}

func keySchemaElement(w *writer, k *emulator.KeySchemaElement) {
	w.string("AttributeName", deref(k.AttributeName))
	w.string("KeyType", k.KeyType)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func localIndex(w *writer, ix *emulator.IndexDescription) {
	w.string("IndexName", ix.IndexName)
	w.string("IndexArn", ix.IndexARN)
	list(w, "KeySchema", ix.KeySchema, keySchemaElement)
	w.member("Projection")
	w.open('{')
	w.text("ProjectionType", ix.Projection.ProjectionType)
	if ix.Projection.NonKeyAttributes != nil {
		w.stringList("NonKeyAttributes", ix.Projection.NonKeyAttributes)
	}
	w.close('}')
	w.int("ItemCount", ix.ItemCount)
	w.int("IndexSizeBytes", ix.IndexSizeBytes)
}

func globalIndex(w *writer, ix *emulator.IndexDescription) {
	localIndex(w, ix)
	w.string("IndexStatus", ix.IndexStatus)
	if ix.Backfilling {
		w.bool("Backfilling", true)
	}
	w.provisioned(ix.ProvisionedThroughput)
	w.throughput(ix.OnDemandThroughput, ix.WarmThroughput)
}

func (w *writer) stringList(name string, texts []string) {
	w.member(name)
	w.open('[')
	for _, text := range texts {
		w.comma()
		w.quoted(text)
	}
	w.close(']')
}

func writeListTables(w *writer, out *emulator.ListTablesOutput) {
	w.stringList("TableNames", out.TableNames)
	w.text("LastEvaluatedTableName", out.LastEvaluatedTableName)
}
