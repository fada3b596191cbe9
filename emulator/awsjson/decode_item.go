package awsjson

import "github.com/hotsplit/hotsplit/emulator"

// Requests about one item. Members that the service does not know are passed
// over, as it does; those of the legacy interface are named to the emulator,
// which refuses them.

func decodeGetItem(s *scanner) (*emulator.GetItemInput, error) {
	in := &emulator.GetItemInput{}
	err := s.structure("GetItemInput", func(name []byte) (err error) {
		switch string(name) {
		case "TableName":
			in.TableName, err = s.stringPtr()
		case "Key":
			in.Key, err = s.item()
		case "ConsistentRead":
			in.ConsistentRead, err = s.bool()
		case "ProjectionExpression":
			in.ProjectionExpression, err = s.stringPtr()
		case "ExpressionAttributeNames":
			in.Expressions.Names, err = s.names()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity, err = s.string()
		default:
			err = s.legacy(name, &in.Legacy)
		}
		return err
	})
	return in, err
}

func decodePutItem(s *scanner) (*emulator.PutItemInput, error) {
	in := &emulator.PutItemInput{}
	err := s.structure("PutItemInput", func(name []byte) (err error) {
		switch string(name) {
		case "TableName":
			in.TableName, err = s.stringPtr()
		case "Item":
			in.Item, err = s.item()
		case "ConditionExpression":
			in.ConditionExpression, err = s.stringPtr()
		default:
			err = s.writeMember(name, writeMembers{&in.Expressions, &in.ReturnValues, &in.ReturnConsumedCapacity,
				&in.ReturnItemCollectionMetrics, &in.ReturnValuesOnConditionCheckFailure, &in.Legacy})
		}
		return err
	})
	return in, err
}

func decodeUpdateItem(s *scanner) (*emulator.UpdateItemInput, error) {
	in := &emulator.UpdateItemInput{}
	err := s.structure("UpdateItemInput", func(name []byte) (err error) {
		switch string(name) {
		case "TableName":
			in.TableName, err = s.stringPtr()
		case "Key":
			in.Key, err = s.item()
		case "UpdateExpression":
			in.UpdateExpression, err = s.stringPtr()
		case "ConditionExpression":
			in.ConditionExpression, err = s.stringPtr()
		default:
			err = s.writeMember(name, writeMembers{&in.Expressions, &in.ReturnValues, &in.ReturnConsumedCapacity,
				&in.ReturnItemCollectionMetrics, &in.ReturnValuesOnConditionCheckFailure, &in.Legacy})
		}
		return err
	})
	return in, err
}

func decodeDeleteItem(s *scanner) (*emulator.DeleteItemInput, error) {
	in := &emulator.DeleteItemInput{}
	err := s.structure("DeleteItemInput", func(name []byte) (err error) {
		switch string(name) {
		case "TableName":
			in.TableName, err = s.stringPtr()
		case "Key":
			in.Key, err = s.item()
		case "ConditionExpression":
			in.ConditionExpression, err = s.stringPtr()
		default:
			err = s.writeMember(name, writeMembers{&in.Expressions, &in.ReturnValues, &in.ReturnConsumedCapacity,
				&in.ReturnItemCollectionMetrics, &in.ReturnValuesOnConditionCheckFailure, &in.Legacy})
		}
		return err
	})
	return in, err
}

// writeMembers are the places of the members that all item writes share.
type writeMembers struct {
	expressions    *emulator.Expressions
	returnValues   *string
	capacity       *string
	metrics        *string
	onCheckFailure *string
	legacy         *emulator.Legacy
}

func (s *scanner) writeMember(name []byte, m writeMembers) (err error) {
	switch string(name) {
	case "ExpressionAttributeNames":
		m.expressions.Names, err = s.names()
	case "ExpressionAttributeValues":
		m.expressions.Values, err = s.values()
	case "ReturnValues":
		*m.returnValues, err = s.string()
	case "ReturnConsumedCapacity":
		*m.capacity, err = s.string()
	case "ReturnItemCollectionMetrics":
		*m.metrics, err = s.string()
	case "ReturnValuesOnConditionCheckFailure":
		*m.onCheckFailure, err = s.string()
	default:
		err = s.legacy(name, m.legacy)
	}
	return err
}

// legacy passes over a member and keeps its name if it is one of the old
// interface, which the emulator refuses.
func (s *scanner) legacy(name []byte, seen *emulator.Legacy) error {
	switch string(name) {
	case "AttributesToGet", "AttributeUpdates", "Expected", "KeyConditions",
		"QueryFilter", "ScanFilter", "ConditionalOperator":
		*seen = append(*seen, string(name))
	}
	return s.skip()
}
