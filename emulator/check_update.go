package emulator

import (
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

func (in *UpdateTableInput) check() error {
	var c constraints
	c.tableName(in.TableName)
	c.definitions(in.AttributeDefinitions, false)
	c.enum(in.BillingMode, "billingMode", "PROVISIONED", "PAY_PER_REQUEST")
	c.provisioned(in.ProvisionedThroughput, "provisionedThroughput")
	c.enum(in.TableClass, "tableClass", "STANDARD", "STANDARD_INFREQUENT_ACCESS")
	for i, u := range in.GlobalSecondaryIndexUpdates {
		c.indexUpdate(u, fmt.Sprintf("globalSecondaryIndexUpdates.%d.member.", i+1))
	}
	if err := c.err(); err != nil {
		return err
	}
	switch {
	case in.ReplicaUpdates:
		return Unsupported("ReplicaUpdates")
	case in.StreamEnabled != nil:
		return Unsupported("StreamSpecification")
	case in.empty():
		return invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	case in.BillingMode == "PAY_PER_REQUEST" && in.ProvisionedThroughput != nil:
		return invalidValues("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	}
	return first(in.ProvisionedThroughput.checkBounds(), in.checkIndexNames())
}

func (in *UpdateTableInput) empty() bool {
	return in.ProvisionedThroughput == nil && in.BillingMode == "" && len(in.GlobalSecondaryIndexUpdates) == 0 &&
		in.SSEEnabled == nil && in.OnDemandThroughput == nil && in.WarmThroughput == nil && in.TableClass == "" &&
		in.DeletionProtectionEnabled == nil
}

func (c *constraints) indexUpdate(u IndexUpdate, path string) {
	if u.Create != nil {
		c.indexSpec(u.Create, path+"create", indexHashAttrsMax+indexSortAttrsMax)
	}
	if u.Update != nil {
		c.required(u.Update.IndexName != nil, path+"update.indexName")
		c.provisioned(u.Update.ProvisionedThroughput, path+"update.provisionedThroughput")
	}
	if u.Delete != nil {
		c.required(u.Delete.IndexName != nil, path+"delete.indexName")
	}
}

func (u IndexUpdate) spec() *IndexSpec {
	switch {
	case u.Create != nil:
		return u.Create
	case u.Update != nil:
		return u.Update
	default:
		return u.Delete
	}
}

func (u IndexUpdate) actions() int {
	n := 0
	for _, s := range []*IndexSpec{u.Create, u.Update, u.Delete} {
		if s != nil {
			n++
		}
	}
	return n
}

func (in *UpdateTableInput) checkIndexNames() error {
	var names []string
	for _, u := range in.GlobalSecondaryIndexUpdates {
		s := u.spec()
		if s == nil {
			return invalidValues("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null")
		}
		if u.actions() > 1 {
			return invalidValues("Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete can be specified")
		}
		if contains(names, *s.IndexName) {
			return invalidValues("Only one global secondary index update per index is allowed simultaneously. Index: %s", *s.IndexName)
		}
		names = append(names, *s.IndexName)
	}
	return nil
}

// checkUpdate holds an update against the table as it is.
func (t *table) checkUpdate(in *UpdateTableInput, now time.Time) error {
	mode := t.mode
	if in.BillingMode != "" {
		mode = modeOf(in.BillingMode)
	}
	p := in.ProvisionedThroughput
	switch {
	case mode == capacity.OnDemand && p != nil:
		return invalidValues("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case mode == capacity.Provisioned && t.mode == capacity.OnDemand && p == nil:
		return invalidValues("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	case mode == capacity.Provisioned && in.OnDemandThroughput != nil:
		return invalidValues("OnDemandThroughput cannot be specified when BillingMode is PROVISIONED")
	case mode == capacity.OnDemand && t.mode == capacity.Provisioned && t.switches(now) >= modeSwitchesMax:
		return newError(CodeLimitExceeded, "Subscriber limit exceeded: Update to PayPerRequest mode are limited to 4 times in 1 day(s)")
	case p != nil && t.mode == mode && *p.ReadCapacityUnits == t.throughput.read && *p.WriteCapacityUnits == t.throughput.write:
		return unchangedThroughput("table", t.throughput)
	}
	if err := in.WarmThroughput.checkRaise(t.db.opts.describeWarm(t.mode, t.throughput)); err != nil {
		return err
	}
	if in.online() > 1 {
		return newError(CodeLimitExceeded, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if err := t.checkIndexUpdate(u, in, mode, now); err != nil {
			return err
		}
	}
	return nil
}

// online is how many indexes are to be created or deleted.
func (in *UpdateTableInput) online() int {
	n := 0
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if u.Update == nil {
			n++
		}
	}
	return n
}

// modeSwitchesMax is how often a table may become on-demand in 24 hours.
const modeSwitchesMax = 4

// switches is how often the table became on-demand in the last 24 hours.
func (t *table) switches(now time.Time) int {
	n := 0
	for _, at := range t.switched {
		if now.Sub(at) < 24*time.Hour {
			n++
		}
	}
	return n
}

func unchangedThroughput(what string, tp throughput) error {
	return invalid(fmt.Sprintf("The provisioned throughput for the %s will not change. The requested value equals the current value. "+
		"Current ReadCapacityUnits provisioned for the %s: %d. Requested ReadCapacityUnits: %d. "+
		"Current WriteCapacityUnits provisioned for the %s: %d. Requested WriteCapacityUnits: %d. "+
		"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
		what, what, tp.read, tp.read, what, tp.write, tp.write))
}

// checkRaise refuses a warm throughput below the current one: it never falls.
func (w *WarmThroughput) checkRaise(current *WarmThroughput) error {
	if w == nil {
		return nil
	}
	if w.ReadUnitsPerSecond != nil && *w.ReadUnitsPerSecond < *current.ReadUnitsPerSecond ||
		w.WriteUnitsPerSecond != nil && *w.WriteUnitsPerSecond < *current.WriteUnitsPerSecond {
		return invalidValues("Requested WarmThroughput must not be lower than the current WarmThroughput. Current ReadUnitsPerSecond: %d, WriteUnitsPerSecond: %d",
			*current.ReadUnitsPerSecond, *current.WriteUnitsPerSecond)
	}
	return nil
}

func (t *table) checkIndexUpdate(u IndexUpdate, in *UpdateTableInput, mode capacity.Mode, now time.Time) error {
	name := *u.spec().IndexName
	ix := t.index(name, now)
	if u.Create != nil {
		return t.checkNewIndex(u.Create, in, mode, ix, now)
	}
	if ix == nil || ix.local {
		return newError(CodeResourceNotFound, "Requested resource not found")
	}
	if s := ix.lifecycle.status(now); s != "ACTIVE" && u.Update != nil {
		return newError(CodeResourceInUse, "Attempt to change a resource which is still in use: Index is being "+changing[s]+": "+name)
	}
	if u.Update == nil {
		return nil
	}
	if p := u.Update.ProvisionedThroughput; p != nil {
		switch {
		case mode == capacity.OnDemand:
			return invalidValues("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
		case t.mode == mode && *p.ReadCapacityUnits == ix.throughput.read && *p.WriteCapacityUnits == ix.throughput.write:
			return unchangedThroughput("index", ix.throughput)
		}
	}
	return u.Update.WarmThroughput.checkRaise(t.db.opts.describeWarm(t.mode, ix.throughput))
}

func (t *table) checkNewIndex(s *IndexSpec, in *UpdateTableInput, mode capacity.Mode, existing *index, now time.Time) error {
	if existing != nil {
		return invalid("Attempting to create an index which already exists")
	}
	live := 0
	for _, ix := range t.global {
		switch ix.lifecycle.status(now) {
		case "CREATING", "DELETING":
			return newError(CodeLimitExceeded, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
		case "ACTIVE", "UPDATING":
			live++
		}
	}
	if live >= indexesGlobalMax {
		return newError(CodeLimitExceeded, "Subscriber limit exceeded: There is a limit of 20 global secondary indexes per table")
	}
	billing := "PROVISIONED"
	if mode == capacity.OnDemand {
		billing = "PAY_PER_REQUEST"
	}
	// The definitions must name the key even where the table knows its type.
	defined := definedNames(in.AttributeDefinitions)
	return first(s.checkGlobal(billing, map[string]bool{}, defined), t.checkRedefined(in.AttributeDefinitions))
}

// checkRedefined refuses to give a key attribute another type.
func (t *table) checkRedefined(list []AttributeDefinition) error {
	for _, d := range list {
		for _, have := range t.attributes {
			if *have.AttributeName == *d.AttributeName && have.AttributeType != d.AttributeType {
				return invalidValues("Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "+
					"Existing schema: Schema:[SchemaElement: key{%s:%s:HASH}] New schema: Schema:[SchemaElement: key{%s:%s:HASH}]",
					*d.AttributeName, have.AttributeType, *d.AttributeName, d.AttributeType)
			}
		}
	}
	return nil
}
