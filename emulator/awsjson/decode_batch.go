package awsjson

import (
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

const (
	keysAndAttributesMap = "java.util.Map<java.lang.String, " + javaPackage + "KeysAndAttributes>"
	writeRequestsMap     = "java.util.Map<java.lang.String, java.util.List<" + javaPackage + "WriteRequest>>"
	// The service leaks its Java runtime's complaint about the generic types of batches.
	parameterizedType = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class " +
		"(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')"
)

func decodeBatchGetItem(s *scanner) (*emulator.BatchGetItemInput, error) {
	in := &emulator.BatchGetItemInput{}
	err := s.structure("BatchGetItemInput", func(name []byte) (err error) {
		switch string(name) {
		case "RequestItems":
			in.RequestItems, err = s.tableKeys()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity, err = s.string()
		default:
			err = s.skip()
		}
		return err
	})
	return in, err
}

func (s *scanner) tableKeys() ([]emulator.TableKeys, error) {
	tables := []emulator.TableKeys{}
	err := s.object(keysAndAttributesMap, "Unexpected field type", func(name []byte) error {
		t := emulator.TableKeys{TableName: string(name)}
		err := s.element("KeysAndAttributes", func(name []byte) (err error) {
			switch string(name) {
			case "Keys":
				t.Keys, err = s.items()
			case "ConsistentRead":
				t.ConsistentRead, err = s.bool()
			case "ProjectionExpression":
				t.ProjectionExpression, err = s.stringPtr()
			case "ExpressionAttributeNames":
				t.Names, err = s.names()
			default:
				err = s.legacy(name, &t.Legacy)
			}
			return err
		})
		tables = append(tables, t)
		return err
	})
	return tables, err
}

// items reads a list of items. The answer is not nil.
func (s *scanner) items() ([]attr.Item, error) {
	items := []attr.Item{}
	err := s.list(func(int) error {
		if s.null() {
			items = append(items, attr.Item{})
			return nil
		}
		if c := s.peek(); c != '{' && c != '[' {
			return s.refuse(parameterizedType)
		}
		i, err := s.item()
		items = append(items, i)
		return err
	})
	return items, err
}

func decodeBatchWriteItem(s *scanner) (*emulator.BatchWriteItemInput, error) {
	in := &emulator.BatchWriteItemInput{}
	err := s.structure("BatchWriteItemInput", func(name []byte) (err error) {
		switch string(name) {
		case "RequestItems":
			in.RequestItems, err = s.tableWrites()
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

func (s *scanner) tableWrites() ([]emulator.TableWrites, error) {
	tables := []emulator.TableWrites{}
	err := s.object(writeRequestsMap, "Unexpected field type", func(name []byte) error {
		t := emulator.TableWrites{TableName: string(name), Requests: []emulator.WriteRequest{}}
		if c := s.peek(); c != '[' && c != '{' {
			return s.refuse(parameterizedType)
		}
		err := s.list(func(int) error {
			r, err := s.writeRequest()
			t.Requests = append(t.Requests, r)
			return err
		})
		tables = append(tables, t)
		return err
	})
	return tables, err
}

func (s *scanner) writeRequest() (emulator.WriteRequest, error) {
	var r emulator.WriteRequest
	err := s.element("WriteRequest", func(name []byte) error {
		switch string(name) {
		case "PutRequest":
			r.PutRequest = &emulator.PutRequest{}
			return s.structure("PutRequest", s.only("Item", &r.PutRequest.Item))
		case "DeleteRequest":
			r.DeleteRequest = &emulator.DeleteRequest{}
			return s.structure("DeleteRequest", s.only("Key", &r.DeleteRequest.Key))
		}
		return s.skip()
	})
	return r, err
}

// only reads the one member of a structure that has just one, an item.
func (s *scanner) only(member string, to *attr.Item) func(name []byte) error {
	return func(name []byte) (err error) {
		if string(name) != member {
			return s.skip()
		}
		*to, err = s.item()
		return err
	}
}
