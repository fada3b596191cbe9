package awsjson

import "github.com/hotsplit/hotsplit/emulator"

func decodeQuery(s *scanner) (*emulator.QueryInput, error) {
	in := &emulator.QueryInput{}
	err := s.structure("QueryInput", func(name []byte) (err error) {
		switch string(name) {
		case "KeyConditionExpression":
			in.KeyConditionExpression, err = s.stringPtr()
		case "ScanIndexForward":
			in.ScanIndexForward, err = s.boolPtr()
		case "ExclusiveStartKey":
			in.ExclusiveStartKey, err = s.item()
		default:
			err = s.pageMember(name, pageMembers{&in.TableName, &in.IndexName, &in.FilterExpression, &in.ProjectionExpression,
				&in.Expressions, &in.ConsistentRead, &in.Limit, &in.Select, &in.ReturnConsumedCapacity, &in.Legacy})
		}
		return err
	})
	return in, err
}

func decodeScan(s *scanner) (*emulator.ScanInput, error) {
	in := &emulator.ScanInput{}
	err := s.structure("ScanInput", func(name []byte) (err error) {
		switch string(name) {
		case "Segment":
			in.Segment, err = s.int()
		case "TotalSegments":
			in.TotalSegments, err = s.int()
		case "ExclusiveStartKey":
			in.ExclusiveStartKey, err = s.item()
		default:
			err = s.pageMember(name, pageMembers{&in.TableName, &in.IndexName, &in.FilterExpression, &in.ProjectionExpression,
				&in.Expressions, &in.ConsistentRead, &in.Limit, &in.Select, &in.ReturnConsumedCapacity, &in.Legacy})
		}
		return err
	})
	return in, err
}

// pageMembers are the places of the members that Query and Scan share.
type pageMembers struct {
	table, index, filter, projection **string
	expressions                      *emulator.Expressions
	consistent                       *bool
	limit                            **int
	selected, capacity               *string
	legacy                           *emulator.Legacy
}

func (s *scanner) pageMember(name []byte, m pageMembers) (err error) {
	switch string(name) {
	case "TableName":
		*m.table, err = s.stringPtr()
	case "IndexName":
		*m.index, err = s.stringPtr()
	case "FilterExpression":
		*m.filter, err = s.stringPtr()
	case "ProjectionExpression":
		*m.projection, err = s.stringPtr()
	case "ExpressionAttributeNames":
		m.expressions.Names, err = s.names()
	case "ExpressionAttributeValues":
		m.expressions.Values, err = s.values()
	case "ConsistentRead":
		*m.consistent, err = s.bool()
	case "Limit":
		*m.limit, err = s.int()
	case "Select":
		*m.selected, err = s.string()
	case "ReturnConsumedCapacity":
		*m.capacity, err = s.string()
	default:
		err = s.legacy(name, m.legacy)
	}
	return err
}
