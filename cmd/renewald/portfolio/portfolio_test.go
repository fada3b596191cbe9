package portfolio_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/cmd/renewald/portfolio"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

const table = "propflow"

// open makes a table in an emulator of its own.
func open(t *testing.T) (*portfolio.Portfolio, *emulator.DB) {
	t.Helper()
	db := emulator.New(emulator.Options{})
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{Transport: awsjson.Transport(db)},
	})
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	wait := dynamodb.NewTableExistsWaiter(client)
	if err := wait.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(table)}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return portfolio.New(client, table), db
}

func day(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

func lease(id, ends string) temporalsaga.Lease {
	return temporalsaga.Lease{ID: id, PersonID: "person-" + id, PropertyID: "elm", Unit: "1", Ends: day(ends), RentCents: 100_000, TermMonths: 12}
}

func TestEndingWalksAllPages(t *testing.T) {
	p, _ := open(t)
	var leases []temporalsaga.Lease
	for i := range 53 {
		leases = append(leases, lease(fmt.Sprintf("l%02d", i), "2027-03-31"))
	}
	leases = append(leases, lease("past", "2026-01-31"), lease("far", "2029-01-31"))
	if done, err := p.Import(t.Context(), leases); err != nil || done.Written != len(leases) {
		t.Fatalf("imported %+v, %v", done, err)
	}
	if err := p.Send(t.Context(), temporalsaga.Letter{ID: "x", SagaID: "s", Kind: "offer"}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	after, pages := "", 0
	for {
		page, err := p.Ending(t.Context(), day("2027-01-01"), day("2027-12-31"), after, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range page.Leases {
			if err := l.Validate(); err != nil || seen[l.ID] {
				t.Errorf("lease %+v: %v, seen %v", l, err, seen[l.ID])
			}
			seen[l.ID] = true
		}
		if pages++; page.Next == "" || pages > 20 {
			break
		}
		after = page.Next
	}
	if len(seen) != 53 {
		t.Errorf("walked %d leases in %d pages, want 53", len(seen), pages)
	}
	if _, err := p.Ending(t.Context(), day("2027-01-01"), day("2027-12-31"), "99:x", 7); !errors.Is(err, temporalsaga.ErrInput) {
		t.Errorf("foreign position: %v", err)
	}
}

func TestExtendOnce(t *testing.T) {
	p, _ := open(t)
	if _, err := p.Import(t.Context(), []temporalsaga.Lease{lease("a", "2027-03-31")}); err != nil {
		t.Fatal(err)
	}
	e := temporalsaga.Extension{ID: "s.extend", LeaseID: "a", From: day("2027-03-31"), To: day("2028-03-31"), RentCents: 110_000}
	for range 3 {
		got, err := p.Extend(t.Context(), e)
		if err != nil || got.Foreign || !got.Ends.Equal(e.To) {
			t.Fatalf("extended %+v, %v", got, err)
		}
	}
	other := e
	other.ID = "other.extend"
	if got, err := p.Extend(t.Context(), other); err != nil || !got.Foreign || !got.Ends.Equal(e.To) {
		t.Errorf("another hand's extension: %+v, %v", got, err)
	}
	other.LeaseID = "missing"
	if got, err := p.Extend(t.Context(), other); err != nil || !got.Ends.IsZero() {
		t.Errorf("missing lease: %+v, %v", got, err)
	}
	if done, err := p.Import(t.Context(), []temporalsaga.Lease{lease("a", "2027-03-31")}); err != nil || done.Kept != 1 {
		t.Errorf("import over an extended lease: %+v, %v", done, err)
	}
	if rent, err := p.Quote(t.Context(), lease("a", "2028-03-31")); err != nil || rent != 110_000 {
		t.Errorf("quote %d, %v", rent, err)
	}
}

func TestQuoteWithoutRent(t *testing.T) {
	p, _ := open(t)
	if _, err := p.Quote(t.Context(), temporalsaga.Lease{ID: "none"}); !errors.Is(err, temporalsaga.ErrInput) {
		t.Errorf("quote without a rent: %v", err)
	}
}

func TestParseCSV(t *testing.T) {
	leases, err := portfolio.ParseCSV(strings.NewReader("ends,id,personId,unit,propertyId,rent\n2027-03-31, l1 ,p1,4B,elm,1234.5\n2027-04-30,l2,p2,,,900\n"))
	if err != nil || len(leases) != 2 {
		t.Fatalf("%v, %v", leases, err)
	}
	if l := leases[0]; l.ID != "l1" || l.RentCents != 123_450 || l.TermMonths != 12 || !l.Ends.Equal(day("2027-03-31")) {
		t.Errorf("lease %+v", l)
	}
}

func TestParseCSVBad(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {"", "no header line"},
		"unknown column": {"id,personId,propertyId,unit,ends,rnet\n", `column "rnet" is unknown`},
		"missing column": {"id,personId,unit,ends\n", `column "propertyId" is missing`},
		"bad date":       {"id,personId,propertyId,unit,ends\nl1,p1,e,1,31.3.2027\n", `line 2: ends "31.3.2027"`},
		"bad rent":       {"id,personId,propertyId,unit,ends,rent\nl1,p1,e,1,2027-03-31,1.234\n", "more than two decimals"},
		"negative rent":  {"id,personId,propertyId,unit,ends,rent\nl1,p1,e,1,2027-03-31,-1\n", "no amount"},
		"twice":          {"id,personId,propertyId,unit,ends\nl1,p1,e,1,2027-03-31\nl1,p2,e,1,2027-03-31\n", "line 3: lease l1 stands in line 2 already"},
		"short line":     {"id,personId,propertyId,unit,ends\nl1,p1\n", "wrong number of fields"},
		"hostile id":     {"id,personId,propertyId,unit,ends\nl#1,p1,e,1,2027-03-31\n", "contains # or /"},
	} {
		_, err := portfolio.ParseCSV(strings.NewReader(c.text))
		if !errors.Is(err, temporalsaga.ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want bad input with %q", name, err, c.want)
		}
	}
}
