package awstest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Publish makes an image available from now on, or changes the image with its ID, and sets the
// named parameters of the parameter store to the ID. Omitted fields default to x86_64, available,
// created now, and owned by the account. The ID is required.
func (c *Cloud) Publish(image ec2types.Image, parameters ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.publish(image)
	for _, p := range parameters {
		c.parameters[p] = value(image.ImageId)
	}
}

func (c *Cloud) publish(i ec2types.Image) {
	setDefault(&i.Architecture, ec2types.ArchitectureValuesX8664)
	setDefault(&i.State, ec2types.ImageStateAvailable)
	setDefaultPointer(&i.CreationDate, c.now.Format(timeFormat))
	setDefaultPointer(&i.OwnerId, c.opts.Account)
	setDefaultPointer(&i.Public, false)
	setDefaultPointer(&i.Name, value(i.ImageId))
	at, found := slices.BinarySearchFunc(c.images, i, func(a, b ec2types.Image) int { return strings.Compare(value(a.ImageId), value(b.ImageId)) })
	if found {
		c.images[at] = i
		return
	}
	c.images = slices.Insert(c.images, at, i)
}

func (c *Cloud) image(id string) *ec2types.Image {
	for i := range c.images {
		if value(c.images[i].ImageId) == id {
			return &c.images[i]
		}
	}
	return nil
}

func (c *Cloud) describeImages(q *request) (any, *fault) {
	owners := q.form.strs("Owner")
	id := func(i ec2types.Image) string { return value(i.ImageId) }
	list, err := selected(q, c.images, func(i ec2types.Image) attributes {
		return table(map[string][]string{
			"image-id": {id(i)}, "name": {value(i.Name)}, "architecture": {string(i.Architecture)}, "state": {string(i.State)},
			"owner-id": {value(i.OwnerId)}, "owner-alias": one(value(i.ImageOwnerAlias)), "is-public": {strconv.FormatBool(value(i.Public))},
		}, tagMap(i.Tags))
	}, selector[ec2types.Image]{"ImageId", id, "InvalidAMIID.NotFound", "The image id '[%s]' does not exist"})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(i ec2types.Image) bool { return !c.owned(&i, owners) || c.hidden(&i, q) })
	page, next, err := pageOf(c, q, list, id, 1, 1000, 1000)
	return &ec2.DescribeImagesOutput{Images: page, NextToken: next}, err
}

// owned reports whether one of the owners has the image; no owners match all images.
func (c *Cloud) owned(i *ec2types.Image, owners []string) bool {
	return len(owners) == 0 || slices.ContainsFunc(owners, func(o string) bool {
		return o == value(i.OwnerId) || o == value(i.ImageOwnerAlias) || o == "self" && value(i.OwnerId) == c.opts.Account
	})
}

// hidden reports whether an image is deprecated and the request does not include deprecated images.
// Its owner always sees it.
func (c *Cloud) hidden(i *ec2types.Image, q *request) bool {
	at, err := time.Parse(time.RFC3339, value(i.DeprecationTime))
	return err == nil && !at.After(c.now) && !q.form.yes("IncludeDeprecated") && value(i.OwnerId) != c.opts.Account
}

func (c *Cloud) getParameter(q *request) (any, *fault) {
	name := q.str("Name")
	if name == "" {
		return nil, failure("ValidationException", "1 validation error detected: Value at 'name' failed to satisfy constraint: Member must not be null")
	}
	plain := name
	if _, path, isARN := strings.Cut(name, ":parameter/"); isARN && strings.HasPrefix(name, "arn:") {
		plain = "/" + path
	}
	v, ok := c.parameters[plain]
	if !ok {
		v, ok = c.parameters[strings.TrimPrefix(plain, "/")]
	}
	if !ok {
		return nil, failure("ParameterNotFound", "Parameter %s not found.", name)
	}
	return map[string]any{"Parameter": map[string]any{
		"Name": plain, "Type": "String", "Value": v, "Version": 1, "DataType": "text", "LastModifiedDate": float64(c.opts.Clock.Unix()),
		"ARN": "arn:aws:ssm:" + c.opts.Region + "::parameter" + plain,
	}}, nil
}
