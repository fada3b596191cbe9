package awsjson

import (
	"context"

	"github.com/hotsplit/hotsplit/emulator"
)

// exchange is one request on its way through an operation.
type exchange struct {
	ctx  context.Context
	db   *emulator.DB
	host string // that the client asked
	scanner
	writer
}

type operation func(x *exchange) error

// operations are the ones that the emulator performs.
var operations = map[string]operation{
	"GetItem":            answered(decodeGetItem, (*emulator.DB).GetItem, writeGetItem),
	"PutItem":            answered(decodePutItem, (*emulator.DB).PutItem, writeWrite),
	"UpdateItem":         answered(decodeUpdateItem, (*emulator.DB).UpdateItem, writeWrite),
	"DeleteItem":         answered(decodeDeleteItem, (*emulator.DB).DeleteItem, writeWrite),
	"Query":              answered(decodeQuery, (*emulator.DB).Query, writePage),
	"Scan":               answered(decodeScan, (*emulator.DB).Scan, writePage),
	"BatchGetItem":       answered(decodeBatchGetItem, (*emulator.DB).BatchGetItem, writeBatchGetItem),
	"BatchWriteItem":     answered(decodeBatchWriteItem, (*emulator.DB).BatchWriteItem, writeBatchWriteItem),
	"TransactGetItems":   answered(decodeTransactGetItems, (*emulator.DB).TransactGetItems, writeTransactGetItems),
	"TransactWriteItems": answered(decodeTransactWriteItems, (*emulator.DB).TransactWriteItems, writeTransactWriteItems),

	"CreateTable":        answered(decodeCreateTable, (*emulator.DB).CreateTable, writeTable),
	"DescribeTable":      answered(decodeDescribeTable, (*emulator.DB).DescribeTable, writeDescribeTable),
	"ListTables":         answered(decodeListTables, (*emulator.DB).ListTables, writeListTables),
	"UpdateTable":        answered(decodeUpdateTable, (*emulator.DB).UpdateTable, writeTable),
	"DeleteTable":        answered(decodeDeleteTable, (*emulator.DB).DeleteTable, writeTable),
	"UpdateTimeToLive":   answered(decodeUpdateTimeToLive, (*emulator.DB).UpdateTimeToLive, writeUpdateTimeToLive),
	"DescribeTimeToLive": answered(decodeDescribeTimeToLive, (*emulator.DB).DescribeTimeToLive, writeDescribeTimeToLive),
	"DescribeLimits":     answered(decodeDescribeLimits, (*emulator.DB).DescribeLimits, writeDescribeLimits),
	"DescribeEndpoints":  describeEndpoints,
	"TagResource":        silent(decodeTagResource, (*emulator.DB).TagResource),
	"UntagResource":      silent(decodeUntagResource, (*emulator.DB).UntagResource),
	"ListTagsOfResource": answered(decodeListTagsOfResource, (*emulator.DB).ListTagsOfResource, writeListTagsOfResource),
}

// outOfScope are the operations that the service has and the emulator refuses.
var outOfScope = []string{
	"BatchExecuteStatement", "ExecuteStatement", "ExecuteTransaction",
	"CreateBackup", "DeleteBackup", "DescribeBackup", "ListBackups", "RestoreTableFromBackup", "RestoreTableToPointInTime",
	"DescribeContinuousBackups", "UpdateContinuousBackups",
	"CreateGlobalTable", "DescribeGlobalTable", "DescribeGlobalTableSettings", "ListGlobalTables", "UpdateGlobalTable", "UpdateGlobalTableSettings",
	"DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling",
	"DescribeContributorInsights", "ListContributorInsights", "UpdateContributorInsights",
	"DescribeExport", "ExportTableToPointInTime", "ListExports", "DescribeImport", "ImportTable", "ListImports",
	"DescribeKinesisStreamingDestination", "DisableKinesisStreamingDestination", "EnableKinesisStreamingDestination", "UpdateKinesisStreamingDestination",
	"DeleteResourcePolicy", "GetResourcePolicy", "PutResourcePolicy",
	"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams",
	"SearchVectors",
}

// answered is an operation that decodes its input, performs it, and writes the
// members of its output.
func answered[I, O any](decode func(*scanner) (*I, error), perform func(*emulator.DB, context.Context, *I) (*O, error), write func(*writer, *O)) operation {
	return func(x *exchange) error {
		out, err := performed(x, decode, perform)
		if err != nil {
			return err
		}
		x.open('{')
		write(&x.writer, out)
		x.close('}')
		return nil
	}
}

// silent is an operation whose answer has no body at all.
func silent[I, O any](decode func(*scanner) (*I, error), perform func(*emulator.DB, context.Context, *I) (*O, error)) operation {
	return func(x *exchange) error {
		_, err := performed(x, decode, perform)
		return err
	}
}

func performed[I, O any](x *exchange, decode func(*scanner) (*I, error), perform func(*emulator.DB, context.Context, *I) (*O, error)) (*O, error) {
	in, err := decode(&x.scanner)
	if err != nil {
		return nil, err
	}
	if err := x.end(); err != nil {
		return nil, err
	}
	return perform(x.db, x.ctx, in)
}

func describeEndpoints(x *exchange) error {
	out, err := performed(x, decodeDescribeEndpoints, (*emulator.DB).DescribeEndpoints)
	if err != nil {
		return err
	}
	x.open('{')
	list(&x.writer, "Endpoints", out.Endpoints, func(w *writer, e *emulator.Endpoint) {
		address := e.Address
		if address == "" {
			address = x.host
		}
		w.string("Address", address)
		w.int("CachePeriodInMinutes", e.CachePeriodInMinutes)
	})
	x.close('}')
	return nil
}
