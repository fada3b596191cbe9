package awsjson

import "github.com/hotsplit/hotsplit/emulator"

func decodeTransactGetItems(s *scanner) (*emulator.TransactGetItemsInput, error) {
	in := &emulator.TransactGetItemsInput{}
	err := s.structure("TransactGetItemsInput", func(name []byte) (err error) {
		switch string(name) {
		case "TransactItems":
			in.TransactItems = []emulator.TransactGetItem{}
			err = s.list(func(int) error {
				t, err := s.transactGet()
				in.TransactItems = append(in.TransactItems, t)
				return err
			})
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity, err = s.string()
		default:
			err = s.skip()
		}
		return err
	})
	return in, err
}

func (s *scanner) transactGet() (emulator.TransactGetItem, error) {
	var t emulator.TransactGetItem
	err := s.element("TransactGetItem", func(name []byte) error {
		if string(name) != "Get" {
			return s.skip()
		}
		g := &emulator.TransactGet{}
		t.Get = g
		return s.structure("Get", func(name []byte) (err error) {
			switch string(name) {
			case "TableName":
				g.TableName, err = s.stringPtr()
			case "Key":
				g.Key, err = s.item()
			case "ProjectionExpression":
				g.ProjectionExpression, err = s.stringPtr()
			case "ExpressionAttributeNames":
				g.Names, err = s.names()
			default:
				err = s.skip()
			}
			return err
		})
	})
	return t, err
}

func decodeTransactWriteItems(s *scanner) (*emulator.TransactWriteItemsInput, error) {
	in := &emulator.TransactWriteItemsInput{}
	err := s.structure("TransactWriteItemsInput", func(name []byte) (err error) {
		switch string(name) {
		case "TransactItems":
			in.TransactItems = []emulator.TransactWriteItem{}
			err = s.list(func(int) error {
				t, err := s.transactWrite()
				in.TransactItems = append(in.TransactItems, t)
				return err
			})
		case "ClientRequestToken":
			in.ClientRequestToken, err = s.stringPtr()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity, err = s.string()
		case "ReturnItemCollectionMetrics":
			in.ReturnItemCollectionMetrics, err = s.string()
		default:
			err = s.skip()
		}
		return err
	})
	return in, err
}

func (s *scanner) transactWrite() (emulator.TransactWriteItem, error) {
	var t emulator.TransactWriteItem
	err := s.element("TransactWriteItem", func(name []byte) (err error) {
		switch string(name) {
		case "ConditionCheck":
			t.ConditionCheck, err = s.transactAction("ConditionCheck")
		case "Put":
			t.Put, err = s.transactAction("Put")
		case "Update":
			t.Update, err = s.transactAction("Update")
		case "Delete":
			t.Delete, err = s.transactAction("Delete")
		default:
			err = s.skip()
		}
		return err
	})
	return t, err
}

func (s *scanner) transactAction(class string) (*emulator.TransactAction, error) {
	a := &emulator.TransactAction{}
	err := s.structure(class, func(name []byte) (err error) {
		switch string(name) {
		case "TableName":
			a.TableName, err = s.stringPtr()
		case "Item":
			a.Item, err = s.item()
		case "Key":
			a.Key, err = s.item()
		case "UpdateExpression":
			a.UpdateExpression, err = s.stringPtr()
		case "ConditionExpression":
			a.ConditionExpression, err = s.stringPtr()
		case "ExpressionAttributeNames":
			a.Expressions.Names, err = s.names()
		case "ExpressionAttributeValues":
			a.Expressions.Values, err = s.values()
		case "ReturnValuesOnConditionCheckFailure":
			a.ReturnValuesOnConditionCheckFailure, err = s.string()
		default:
			err = s.skip()
		}
		return err
	})
	return a, err
}
