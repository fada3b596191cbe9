package awsjson_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/emulator"
)

// Many clients and somebody who watches, for the race detector.
func TestConcurrentClients(t *testing.T) {
	db := emulator.New(emulator.Options{Unlimited: true})
	createTable(t, inProcess(db))
	table := aws.String("sagas")
	var clients errgroup.Group
	for worker := range 6 {
		clients.Go(func() error {
			c := inProcess(db)
			for n := range 40 {
				id := fmt.Sprintf("%d-%d", worker, n)
				if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: saga(id)}); err != nil {
					return err
				}
				if _, err := c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: table, Key: map[string]types.AttributeValue{"PK": text("RSAGA#" + id), "SK": text("META")},
					UpdateExpression: aws.String("SET GSI4PK = :k"), ExpressionAttributeValues: map[string]types.AttributeValue{":k": text("RenewalSaga#" + strconv.Itoa(n%4))}}); err != nil {
					return err
				}
				if _, err := c.Query(t.Context(), &dynamodb.QueryInput{TableName: table, IndexName: aws.String("GSI4"), KeyConditionExpression: aws.String("GSI4PK = :k"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":k": text("RenewalSaga")}}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	clients.Go(func() error {
		for range 20 {
			for _, path := range []string{"/admin/state", "/admin/heat", "/admin/log?since=5", "/metrics", "/admin/faults"} {
				if w := console(db, "GET", path, ""); w.Code != 200 {
					return fmt.Errorf("%s: %d", path, w.Code)
				}
			}
		}
		return nil
	})
	if err := clients.Wait(); err != nil {
		t.Fatal(err)
	}
	scan, err := inProcess(db).Scan(t.Context(), &dynamodb.ScanInput{TableName: table, ConsistentRead: aws.Bool(true), Select: types.SelectCount})
	if err != nil || scan.Count != 240 {
		t.Errorf("%d rows, %v", scan.Count, err)
	}
}

// A key may hold anything, markup too.
func TestPageEscapesKeys(t *testing.T) {
	db := emulator.New(emulator.Options{})
	c := inProcess(db)
	createTable(t, c)
	if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sagas"), Item: saga(`</script><img src=x onerror="alert(1)">`)}); err != nil {
		t.Fatal(err)
	}
	db.Advance(2e9)
	body := console(db, "GET", "/", "", "Accept", "text/html").Body.String()
	if strings.Contains(body, "<img") || !strings.Contains(body, "onerror") {
		t.Errorf("a key reaches the page as markup, or not at all")
	}
}
