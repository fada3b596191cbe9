package awsjson

import "github.com/hotsplit/hotsplit/emulator"

func decodeCreateTable(s *scanner) (*emulator.CreateTableInput, error) {
	in := &emulator.CreateTableInput{}
	err := s.structure("CreateTableInput", func(name []byte) (err error) {
		switch string(name) {
		case "TableName":
			in.TableName, err = s.stringPtr()
		case "AttributeDefinitions":
			in.AttributeDefinitions, err = s.attributeDefinitions()
		case "KeySchema":
			in.KeySchema, err = s.keySchema()
		case "BillingMode":
			in.BillingMode, err = s.string()
		case "GlobalSecondaryIndexes":
			in.GlobalSecondaryIndexes, err = s.indexSpecs("GlobalSecondaryIndex")
		case "LocalSecondaryIndexes":
			in.LocalSecondaryIndexes, err = s.indexSpecs("LocalSecondaryIndex")
		case "Tags":
			in.Tags, err = s.tags()
		case "TableClass":
			in.TableClass, err = s.string()
		case "DeletionProtectionEnabled":
			in.DeletionProtectionEnabled, err = s.boolPtr()
		case "StreamSpecification":
			in.StreamEnabled, in.StreamViewType, err = s.streamSpecification()
		case "SSESpecification":
			in.SSEEnabled, err = s.flag("SSESpecification", "Enabled")
		default:
			err = s.throughputMember(name, throughputMembers{&in.ProvisionedThroughput, &in.OnDemandThroughput, &in.WarmThroughput})
		}
		return err
	})
	return in, err
}

func decodeUpdateTable(s *scanner) (*emulator.UpdateTableInput, error) {
	in := &emulator.UpdateTableInput{}
	err := s.structure("UpdateTableInput", func(name []byte) (err error) {
		switch string(name) {
		case "TableName":
			in.TableName, err = s.stringPtr()
		case "AttributeDefinitions":
			in.AttributeDefinitions, err = s.attributeDefinitions()
		case "BillingMode":
			in.BillingMode, err = s.string()
		case "GlobalSecondaryIndexUpdates":
			in.GlobalSecondaryIndexUpdates, err = s.indexUpdates()
		case "TableClass":
			in.TableClass, err = s.string()
		case "DeletionProtectionEnabled":
			in.DeletionProtectionEnabled, err = s.boolPtr()
		case "StreamSpecification":
			in.StreamEnabled, err = s.flag("StreamSpecification", "StreamEnabled")
		case "SSESpecification":
			in.SSEEnabled, err = s.flag("SSESpecification", "Enabled")
		case "ReplicaUpdates":
			in.ReplicaUpdates = true
			err = s.skip()
		default:
			err = s.throughputMember(name, throughputMembers{&in.ProvisionedThroughput, &in.OnDemandThroughput, &in.WarmThroughput})
		}
		return err
	})
	return in, err
}

// throughputMembers are the places of the members about throughput, which tables
// and indexes share.
type throughputMembers struct {
	provisioned **emulator.ProvisionedThroughput
	onDemand    **emulator.OnDemandThroughput
	warm        **emulator.WarmThroughput
}

func (s *scanner) throughputMember(name []byte, m throughputMembers) error {
	switch string(name) {
	case "ProvisionedThroughput":
		p := &emulator.ProvisionedThroughput{}
		*m.provisioned = p
		return s.pair("ProvisionedThroughput", "ReadCapacityUnits", &p.ReadCapacityUnits, "WriteCapacityUnits", &p.WriteCapacityUnits)
	case "OnDemandThroughput":
		p := &emulator.OnDemandThroughput{}
		*m.onDemand = p
		return s.pair("OnDemandThroughput", "MaxReadRequestUnits", &p.MaxReadRequestUnits, "MaxWriteRequestUnits", &p.MaxWriteRequestUnits)
	case "WarmThroughput":
		p := &emulator.WarmThroughput{}
		*m.warm = p
		return s.pair("WarmThroughput", "ReadUnitsPerSecond", &p.ReadUnitsPerSecond, "WriteUnitsPerSecond", &p.WriteUnitsPerSecond)
	}
	return s.skip()
}

// pair reads a structure of two numbers.
func (s *scanner) pair(class, first string, a **int64, second string, b **int64) error {
	return s.structure(class, func(name []byte) (err error) {
		switch string(name) {
		case first:
			*a, err = s.long()
		case second:
			*b, err = s.long()
		default:
			err = s.skip()
		}
		return err
	})
}

// flag reads a structure of which one truth value matters.
func (s *scanner) flag(class, member string) (flag *bool, err error) {
	err = s.structure(class, func(name []byte) (err error) {
		if string(name) != member {
			return s.skip()
		}
		flag, err = s.boolPtr()
		return err
	})
	return flag, err
}

func (s *scanner) streamSpecification() (enabled *bool, view string, err error) {
	err = s.structure("StreamSpecification", func(name []byte) (err error) {
		switch string(name) {
		case "StreamEnabled":
			enabled, err = s.boolPtr()
		case "StreamViewType":
			view, err = s.string()
		default:
			err = s.skip()
		}
		return err
	})
	return enabled, view, err
}

func (s *scanner) attributeDefinitions() ([]emulator.AttributeDefinition, error) {
	list := []emulator.AttributeDefinition{}
	err := s.list(func(int) error {
		var d emulator.AttributeDefinition
		err := s.element("AttributeDefinition", func(name []byte) (err error) {
			switch string(name) {
			case "AttributeName":
				d.AttributeName, err = s.stringPtr()
			case "AttributeType":
				d.AttributeType, err = s.string()
			default:
				err = s.skip()
			}
			return err
		})
		list = append(list, d)
		return err
	})
	return list, err
}

func (s *scanner) keySchema() ([]emulator.KeySchemaElement, error) {
	list := []emulator.KeySchemaElement{}
	err := s.list(func(int) error {
		var k emulator.KeySchemaElement
		err := s.element("KeySchemaElement", func(name []byte) (err error) {
			switch string(name) {
			case "AttributeName":
				k.AttributeName, err = s.stringPtr()
			case "KeyType":
				k.KeyType, err = s.string()
			default:
				err = s.skip()
			}
			return err
		})
		list = append(list, k)
		return err
	})
	return list, err
}

func (s *scanner) indexSpecs(class string) ([]emulator.IndexSpec, error) {
	list := []emulator.IndexSpec{}
	err := s.list(func(int) error {
		var spec emulator.IndexSpec
		err := s.element(class, func(name []byte) error { return s.indexMember(name, &spec) })
		list = append(list, spec)
		return err
	})
	return list, err
}

func (s *scanner) indexMember(name []byte, spec *emulator.IndexSpec) (err error) {
	switch string(name) {
	case "IndexName":
		spec.IndexName, err = s.stringPtr()
	case "KeySchema":
		spec.KeySchema, err = s.keySchema()
	case "Projection":
		spec.Projection, err = s.projection()
	default:
		err = s.throughputMember(name, throughputMembers{&spec.ProvisionedThroughput, &spec.OnDemandThroughput, &spec.WarmThroughput})
	}
	return err
}

func (s *scanner) projection() (*emulator.Projection, error) {
	p := &emulator.Projection{}
	err := s.structure("Projection", func(name []byte) (err error) {
		switch string(name) {
		case "ProjectionType":
			p.ProjectionType, err = s.string()
		case "NonKeyAttributes":
			p.NonKeyAttributes, err = s.strings()
		default:
			err = s.skip()
		}
		return err
	})
	return p, err
}

func (s *scanner) indexUpdates() ([]emulator.IndexUpdate, error) {
	list := []emulator.IndexUpdate{}
	err := s.list(func(int) error {
		var u emulator.IndexUpdate
		err := s.element("GlobalSecondaryIndexUpdate", func(name []byte) (err error) {
			switch string(name) {
			case "Create":
				u.Create, err = s.indexAction("CreateGlobalSecondaryIndexAction")
			case "Update":
				u.Update, err = s.indexAction("UpdateGlobalSecondaryIndexAction")
			case "Delete":
				u.Delete, err = s.indexAction("DeleteGlobalSecondaryIndexAction")
			default:
				err = s.skip()
			}
			return err
		})
		list = append(list, u)
		return err
	})
	return list, err
}

func (s *scanner) indexAction(class string) (*emulator.IndexSpec, error) {
	spec := &emulator.IndexSpec{}
	err := s.structure(class, func(name []byte) error { return s.indexMember(name, spec) })
	return spec, err
}

func (s *scanner) tags() ([]emulator.Tag, error) {
	list := []emulator.Tag{}
	err := s.list(func(int) error {
		var t emulator.Tag
		err := s.element("Tag", func(name []byte) (err error) {
			switch string(name) {
			case "Key":
				t.Key, err = s.stringPtr()
			case "Value":
				t.Value, err = s.stringPtr()
			default:
				err = s.skip()
			}
			return err
		})
		list = append(list, t)
		return err
	})
	return list, err
}
