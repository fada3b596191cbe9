package emulator

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Unsupported is the answer to what this emulator leaves out: an operation or a
// member of a request.
func Unsupported(what string) *Error {
	return newError(CodeUnknownOperation, "hotsplit emulator: "+what+" is not supported")
}

// DescribeLimits tells the quotas of the account.
func (db *DB) DescribeLimits(ctx context.Context, _ *DescribeLimitsInput) (*DescribeLimitsOutput, error) {
	c := db.begin(ctx, "DescribeLimits")
	return answer(c, &DescribeLimitsOutput{
		AccountMaxReadCapacityUnits:  80000,
		AccountMaxWriteCapacityUnits: 80000,
		TableMaxReadCapacityUnits:    int64(db.opts.TableQuota.Read),
		TableMaxWriteCapacityUnits:   int64(db.opts.TableQuota.Write),
	}, nil)
}

// DescribeEndpoints says where the service is.
func (db *DB) DescribeEndpoints(ctx context.Context, _ *DescribeEndpointsInput) (*DescribeEndpointsOutput, error) {
	c := db.begin(ctx, "DescribeEndpoints")
	return answer(c, &DescribeEndpointsOutput{Endpoints: []Endpoint{{CachePeriodInMinutes: 1440}}}, nil)
}

const (
	tagsMax           = 50
	tagKeyLengthMax   = 128
	tagValueLengthMax = 256
)

// TagResource adds tags to a table, or changes their values.
func (db *DB) TagResource(ctx context.Context, in *TagResourceInput) (*TagResourceOutput, error) {
	c := db.begin(ctx, "TagResource")
	t, err := c.tagged(in.ResourceArn)
	if err == nil && in.Tags == nil {
		err = invalid("1 validation error detected: Value null at 'tags' failed to satisfy constraint: Member must not be null")
	}
	if err == nil && len(in.Tags) == 0 {
		err = invalid("Atleast one Tag needs to be provided as Input.")
	}
	if err == nil {
		err = checkTags(in.Tags)
	}
	if err == nil {
		err = t.tag(in.Tags)
	}
	return answer(c, &TagResourceOutput{}, err)
}

func (t *table) tag(tags []Tag) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Clone(t.tags)
	for _, tag := range tags {
		if at := tagIndex(all, *tag.Key); at >= 0 {
			all[at] = tag
		} else {
			all = append(all, tag)
		}
	}
	if len(all) > tagsMax {
		return invalid("One or more parameter values were invalid: Too many tags: the limit is 50 tags for each resource")
	}
	t.tags = all
	return nil
}

func tagIndex(tags []Tag, key string) int {
	return slices.IndexFunc(tags, func(t Tag) bool { return *t.Key == key })
}

// tagText is what keys and values of tags may hold.
var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func checkTags(tags []Tag) error {
	var c constraints
	for i, tag := range tags {
		path := fmt.Sprintf("tags.%d.member.", i+1)
		if c.required(tag.Key != nil, path+"key") {
			c.textLength(*tag.Key, path+"key", 1, tagKeyLengthMax)
		}
		if c.required(tag.Value != nil, path+"value") {
			c.textLength(*tag.Value, path+"value", 0, tagValueLengthMax)
		}
	}
	if err := c.err(); err != nil {
		return err
	}
	if len(tags) > tagsMax {
		return invalid("One or more parameter values were invalid: Too many tags: the limit is 50 tags for each resource")
	}
	for i, tag := range tags {
		if tagIndex(tags[:i], *tag.Key) >= 0 {
			return invalid("One or more parameter values were invalid: Duplicate tag key: " + *tag.Key)
		}
		if !tagText.MatchString(*tag.Key) || !tagText.MatchString(*tag.Value) {
			return invalid("One or more parameter values were invalid: Tag keys and values can contain letters, spaces, numbers and _.:/=+-@ only")
		}
		if strings.HasPrefix(*tag.Key, "aws:") {
			return invalid("One or more parameter values were invalid: Tag keys starting with 'aws:' are reserved for system use")
		}
	}
	return nil
}

// UntagResource removes tags from a table.
func (db *DB) UntagResource(ctx context.Context, in *UntagResourceInput) (*UntagResourceOutput, error) {
	c := db.begin(ctx, "UntagResource")
	t, err := c.tagged(in.ResourceArn)
	if err == nil && in.TagKeys == nil {
		err = invalid("1 validation error detected: Value null at 'tagKeys' failed to satisfy constraint: Member must not be null")
	}
	if err == nil && len(in.TagKeys) == 0 {
		err = invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	if err == nil {
		t.untag(in.TagKeys)
	}
	return answer(c, &UntagResourceOutput{}, err)
}

func (t *table) untag(keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tags = slices.DeleteFunc(slices.Clone(t.tags), func(tag Tag) bool { return contains(keys, *tag.Key) })
}

// ListTagsOfResource lists the tags of a table.
func (db *DB) ListTagsOfResource(ctx context.Context, in *ListTagsOfResourceInput) (*ListTagsOfResourceOutput, error) {
	c := db.begin(ctx, "ListTagsOfResource")
	t, err := c.tagged(in.ResourceArn)
	if err != nil {
		return nil, c.end(err)
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return answer(c, &ListTagsOfResourceOutput{Tags: append([]Tag{}, t.tags...)}, nil)
}

// tagged is the table that an ARN stands for.
func (c *call) tagged(arn *string) (*table, error) {
	if arn == nil || *arn == "" {
		return nil, invalid("Invalid TableArn")
	}
	if !strings.HasPrefix(*arn, "arn:") {
		return nil, invalid("Invalid TableArn: ARNs must start with 'arn:': " + *arn)
	}
	parts := strings.Split(*arn, ":")
	if len(parts) == 6 && isDigits(parts[4]) && parts[4] != c.db.opts.Account {
		return nil, newError(CodeAccessDenied, "User: arn:aws:iam::"+c.db.opts.Account+":user/"+orDefault(c.entry.Caller, "emulator")+
			" is not authorized to perform: dynamodb:"+c.entry.Operation+" on resource: "+*arn)
	}
	name := nameOf(*arn)
	if name == *arn || len(name) < nameLengthMin || !isName(name) {
		return nil, invalid("Invalid TableArn: Invalid ResourceArn provided as input " + *arn)
	}
	c.entry.Table = name
	t := c.db.find(name, c.now)
	if t == nil || t.arn != *arn {
		return nil, newError(CodeResourceNotFound, "Requested resource not found: ResourcArn: "+*arn+" not found")
	}
	return t, nil
}
