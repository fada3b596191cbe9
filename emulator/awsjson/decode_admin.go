package awsjson

import "github.com/hotsplit/hotsplit/emulator"

func decodeDescribeTable(s *scanner) (*emulator.DescribeTableInput, error) {
	in := &emulator.DescribeTableInput{}
	return in, s.tableNameOnly("DescribeTableInput", &in.TableName)
}

func decodeDeleteTable(s *scanner) (*emulator.DeleteTableInput, error) {
	in := &emulator.DeleteTableInput{}
	return in, s.tableNameOnly("DeleteTableInput", &in.TableName)
}

func decodeDescribeTimeToLive(s *scanner) (*emulator.DescribeTimeToLiveInput, error) {
	in := &emulator.DescribeTimeToLiveInput{}
	return in, s.tableNameOnly("DescribeTimeToLiveInput", &in.TableName)
}

func (s *scanner) tableNameOnly(class string, to **string) error {
	return s.structure(class, func(name []byte) (err error) {
		if string(name) != "TableName" {
			return s.skip()
		}
		*to, err = s.stringPtr()
		return err
	})
}

func decodeListTables(s *scanner) (*emulator.ListTablesInput, error) {
	in := &emulator.ListTablesInput{}
	err := s.structure("ListTablesInput", func(name []byte) (err error) {
		switch string(name) {
		case "ExclusiveStartTableName":
			in.ExclusiveStartTableName, err = s.stringPtr()
		case "Limit":
			in.Limit, err = s.int()
		default:
			err = s.skip()
		}
		return err
	})
	return in, err
}

func decodeUpdateTimeToLive(s *scanner) (*emulator.UpdateTimeToLiveInput, error) {
	in := &emulator.UpdateTimeToLiveInput{}
	err := s.structure("UpdateTimeToLiveInput", func(name []byte) (err error) {
		switch string(name) {
		case "TableName":
			in.TableName, err = s.stringPtr()
		case "TimeToLiveSpecification":
			in.TimeToLiveSpecification, err = s.timeToLive()
		default:
			err = s.skip()
		}
		return err
	})
	return in, err
}

func (s *scanner) timeToLive() (*emulator.TimeToLiveSpecification, error) {
	t := &emulator.TimeToLiveSpecification{}
	err := s.structure("TimeToLiveSpecification", func(name []byte) (err error) {
		switch string(name) {
		case "AttributeName":
			t.AttributeName, err = s.stringPtr()
		case "Enabled":
			t.Enabled, err = s.boolPtr()
		default:
			err = s.skip()
		}
		return err
	})
	return t, err
}

func decodeTagResource(s *scanner) (*emulator.TagResourceInput, error) {
	in := &emulator.TagResourceInput{}
	err := s.structure("TagResourceInput", func(name []byte) (err error) {
		switch string(name) {
		case "ResourceArn":
			in.ResourceArn, err = s.stringPtr()
		case "Tags":
			in.Tags, err = s.tags()
		default:
			err = s.skip()
		}
		return err
	})
	return in, err
}

func decodeUntagResource(s *scanner) (*emulator.UntagResourceInput, error) {
	in := &emulator.UntagResourceInput{}
	err := s.structure("UntagResourceInput", func(name []byte) (err error) {
		switch string(name) {
		case "ResourceArn":
			in.ResourceArn, err = s.stringPtr()
		case "TagKeys":
			in.TagKeys, err = s.strings()
		default:
			err = s.skip()
		}
		return err
	})
	return in, err
}

func decodeListTagsOfResource(s *scanner) (*emulator.ListTagsOfResourceInput, error) {
	in := &emulator.ListTagsOfResourceInput{}
	err := s.structure("ListTagsOfResourceInput", func(name []byte) (err error) {
		switch string(name) {
		case "ResourceArn":
			in.ResourceArn, err = s.stringPtr()
		case "NextToken":
			in.NextToken, err = s.stringPtr()
		default:
			err = s.skip()
		}
		return err
	})
	return in, err
}

func decodeDescribeLimits(s *scanner) (*emulator.DescribeLimitsInput, error) {
	return &emulator.DescribeLimitsInput{}, s.structure("DescribeLimitsInput", func([]byte) error { return s.skip() })
}

func decodeDescribeEndpoints(s *scanner) (*emulator.DescribeEndpointsInput, error) {
	return &emulator.DescribeEndpointsInput{}, s.structure("DescribeEndpointsRequest", func([]byte) error { return s.skip() })
}
