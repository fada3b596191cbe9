package portfolio

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

const (
	linesMax       = 200_000
	faultsShownMax = 20
)

// columns of a portfolio file; those after the first five may be missing.
var columns = []string{"id", "personId", "propertyId", "unit", "ends", "personName", "rent", "termMonths"}

const columnsNeeded = 5

// ParseCSV reads leases from a file with a header line. It reads to the end and
// reports every line at fault as one *temporalsaga.InputError, so that a file is
// corrected once and a bad one writes nothing.
func ParseCSV(r io.Reader) ([]temporalsaga.Lease, error) {
	in := csv.NewReader(r)
	in.TrimLeadingSpace = true
	header, err := in.Read()
	if err != nil {
		return nil, &temporalsaga.InputError{Subject: "portfolio", Faults: []string{"no header line: want " + strings.Join(columns, ",")}}
	}
	at, err := headerOf(header)
	if err != nil {
		return nil, err
	}
	var leases []temporalsaga.Lease
	var faults []string
	lineOf := map[string]int{}
	for range linesMax {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return leases, faultsError(faults)
		}
		if err != nil {
			return nil, &temporalsaga.InputError{Subject: "portfolio", Faults: []string{err.Error()}}
		}
		line, _ := in.FieldPos(0)
		lease, err := leaseOfRecord(record, at)
		if before, twice := lineOf[lease.ID]; err == nil && twice {
			err = fmt.Errorf("lease %s stands in line %d already", lease.ID, before)
		}
		lineOf[lease.ID] = line
		if err != nil {
			faults = append(faults, fmt.Sprintf("line %d: %v", line, err))
			continue
		}
		leases = append(leases, lease)
	}
	return nil, &temporalsaga.InputError{Subject: "portfolio", Faults: []string{fmt.Sprintf("more than %d lines", linesMax)}}
}

func faultsError(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	if more := len(faults) - faultsShownMax; more > 0 {
		faults = append(faults[:faultsShownMax:faultsShownMax], fmt.Sprintf("and %d more lines", more))
	}
	return &temporalsaga.InputError{Subject: "portfolio", Faults: faults}
}

// headerOf finds the columns in any order.
func headerOf(header []string) (map[string]int, error) {
	at := map[string]int{}
	var faults []string
	for i, name := range header {
		name = strings.TrimPrefix(strings.TrimSpace(name), "\ufeff")
		if !slices.Contains(columns, name) {
			faults = append(faults, fmt.Sprintf("column %q is unknown", name))
		}
		at[name] = i
	}
	for _, name := range columns[:columnsNeeded] {
		if _, ok := at[name]; !ok {
			faults = append(faults, fmt.Sprintf("column %q is missing", name))
		}
	}
	if len(faults) > 0 {
		return nil, &temporalsaga.InputError{Subject: "portfolio header", Faults: faults}
	}
	return at, nil
}

func leaseOfRecord(record []string, at map[string]int) (temporalsaga.Lease, error) {
	field := func(name string) string {
		if i, ok := at[name]; ok && i < len(record) {
			return strings.TrimSpace(record[i])
		}
		return ""
	}
	lease := temporalsaga.Lease{
		ID: field("id"), PersonID: field("personId"), PersonName: field("personName"),
		PropertyID: field("propertyId"), Unit: field("unit"), TermMonths: 12,
	}
	var err error
	if lease.Ends, err = time.Parse(time.DateOnly, field("ends")); err != nil {
		return lease, fmt.Errorf("ends %q is no date like 2027-03-31", field("ends"))
	}
	if lease.RentCents, err = parseRent(field("rent")); err != nil {
		return lease, err
	}
	if months := field("termMonths"); months != "" {
		if lease.TermMonths, err = strconv.Atoi(months); err != nil {
			return lease, fmt.Errorf("termMonths %q is no number", months)
		}
	}
	return lease, lease.Validate()
}

// parseRent reads an amount with at most two decimals, as text: a float would
// lose cents.
func parseRent(text string) (cents int64, err error) {
	if text == "" {
		return 0, nil
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > 2 {
		return 0, fmt.Errorf("rent %q has more than two decimals", text)
	}
	fraction += strings.Repeat("0", 2-len(fraction))
	cents, err = strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil || strings.ContainsAny(text, "+-") {
		return 0, fmt.Errorf("rent %q is no amount like 1234.50", text)
	}
	return cents, nil
}

// Imported counts what an import did.
type Imported struct {
	Written int
	Kept    int // leases whose end is later in the table: they were renewed meanwhile
}

// Import writes leases. It can be repeated: a lease that is there takes the new
// fields, but its end never moves back.
func (p *Portfolio) Import(ctx context.Context, leases []temporalsaga.Lease) (Imported, error) {
	var done Imported
	for _, lease := range leases {
		err := p.put(ctx, lease)
		var later *types.ConditionalCheckFailedException
		switch {
		case err == nil:
			done.Written++
		case errors.As(err, &later):
			done.Kept++
		default:
			return done, unavailable("import lease "+lease.ID, err)
		}
	}
	return done, nil
}

func (p *Portfolio) put(ctx context.Context, lease temporalsaga.Lease) error {
	_, err := p.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &p.table, Key: key("LEASE", lease.ID),
		ConditionExpression: aws.String("attribute_not_exists(PK) OR ends <= :ends"),
		UpdateExpression: aws.String("SET entityType = :lease, personId = :person, personName = :name, propertyId = :property, #unit = :unit, " +
			"ends = :ends, rentCents = :rent, termMonths = :months"),
		ExpressionAttributeNames: map[string]string{"#unit": "unit"},
		ExpressionAttributeValues: item{
			":lease": text("Lease"), ":person": text(lease.PersonID), ":name": text(lease.PersonName), ":property": text(lease.PropertyID), ":unit": text(lease.Unit),
			":ends": text(lease.Ends.UTC().Format(time.DateOnly)), ":rent": number(lease.RentCents), ":months": number(lease.TermMonths),
		},
	})
	return err
}
