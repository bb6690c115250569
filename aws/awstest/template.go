package awstest

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// maxUserData is EC2's limit on user data, in bytes before base64.
const maxUserData = 16384

// template is a launch template. It has one version.
type template struct {
	id, name string
	created  time.Time
	data     form
	tags     map[string]string
	asked    string // the request, to distinguish a repetition from another request with the same token
}

// LaunchTemplate is a launch template that exists.
type LaunchTemplate struct {
	// ID and Name are those of the template.
	ID, Name string
	// CreatedAt is when it was made.
	CreatedAt time.Time
	// ImageID, InstanceProfile and SecurityGroups are those of the machines launched from the
	// template.
	ImageID, InstanceProfile string
	SecurityGroups           []string
	// UserData is the decoded user data of the machines.
	UserData string
	// ReservationID is the capacity reservation to launch into; empty if there is none.
	ReservationID string
	// Tags are those of the template itself.
	Tags map[string]string
	// Data has all other parameters: the names of the query and their values.
	Data map[string]string
}

// LaunchTemplates returns all launch templates, sorted by name.
func (c *Cloud) LaunchTemplates() []LaunchTemplate {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []LaunchTemplate
	for _, t := range c.templates {
		text, _ := base64.StdEncoding.DecodeString(t.data.str("UserData")) // was checked when it came
		data := map[string]string{}
		t.data.flatten("", data)
		delete(data, "UserData")
		out = append(out, LaunchTemplate{
			ID: t.id, Name: t.name, CreatedAt: t.created, ImageID: t.data.str("ImageId"), InstanceProfile: t.data.str("IamInstanceProfile.Name"),
			SecurityGroups: groupsOf(t.data), UserData: string(text),
			ReservationID: t.data.str("CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId"),
			Tags:          maps.Clone(t.tags), Data: data,
		})
	}
	return out
}

// copied returns a copy that is not nil.
func copied(tags map[string]string) map[string]string {
	out := make(map[string]string, len(tags))
	maps.Copy(out, tags)
	return out
}

// flatten writes the names of the query and their values.
func (f form) flatten(prefix string, into map[string]string) {
	if f.text != "" {
		into[prefix] = f.text
	}
	for name, child := range f.children {
		child.flatten(strings.TrimPrefix(prefix+"."+name, "."), into)
	}
}

// groupsOf returns the security groups of a template, or else those of its first network interface.
func groupsOf(data form) []string {
	groups := data.strs("SecurityGroupId")
	for _, n := range data.list("NetworkInterface") {
		for _, g := range n.strs("SecurityGroupId") {
			if !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
		}
	}
	slices.Sort(groups)
	return groups
}

func (c *Cloud) describeTemplate(t *template) *ec2types.LaunchTemplate {
	return &ec2types.LaunchTemplate{LaunchTemplateId: &t.id, LaunchTemplateName: &t.name, CreateTime: &t.created,
		CreatedBy:            new("arn:aws:iam::" + c.opts.Account + ":role/controller"),
		DefaultVersionNumber: new(int64(1)), LatestVersionNumber: new(int64(1)), Tags: tagList(t.tags)}
}

func (c *Cloud) createLaunchTemplate(q *request) (any, *fault) {
	name, data, asked := q.form.str("LaunchTemplateName"), q.form.at("LaunchTemplateData"), q.form.canonical("ClientToken")
	token := q.form.str("ClientToken")
	if old := c.tokens[token]; token != "" && old != nil {
		if old.asked != asked {
			return nil, failure("IdempotentParameterMismatch", "The client token you have provided is associated with a request with other parameters")
		}
		return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: c.describeTemplate(old)}, nil
	}
	if len(name) < 3 || len(name) > 128 {
		return nil, failure("InvalidLaunchTemplateName.MalformedException", "Launch template names must be between 3 and 128 characters long")
	}
	if c.templateBy(func(t *template) bool { return t.name == name }) != nil {
		return nil, failure("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	if err := checkUserData(data.str("UserData")); err != nil {
		return nil, err
	}
	if q.form.yes("DryRun") {
		return nil, dryRun()
	}
	t := &template{id: c.id("lt"), name: name, created: c.now, data: data, tags: tagsFor(q.form, "launch-template"), asked: asked}
	at, _ := slices.BinarySearchFunc(c.templates, name, func(t *template, n string) int { return strings.Compare(t.name, n) })
	c.templates = slices.Insert(c.templates, at, t)
	if token != "" {
		c.tokens[token] = t
	}
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: c.describeTemplate(t)}, nil
}

func checkUserData(text string) *fault {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return failure("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	}
	if len(data) > maxUserData {
		return failure("InvalidUserData.Malformed", "User data is limited to %d bytes", maxUserData)
	}
	return nil
}

// tagsFor returns the tags in a request for a kind of resource.
func tagsFor(f form, kind string) map[string]string {
	tags := map[string]string{}
	for _, spec := range f.list("TagSpecification") {
		if spec.str("ResourceType") == kind {
			maps.Copy(tags, spec.tags("Tag"))
		}
	}
	return tags
}

func (c *Cloud) templateBy(is func(*template) bool) *template {
	for _, t := range c.templates {
		if is(t) {
			return t
		}
	}
	return nil
}

// namedTemplate returns the template that a request names, by ID or name.
func (c *Cloud) namedTemplate(f form) (*template, *fault) {
	id, name := f.str("LaunchTemplateId"), f.str("LaunchTemplateName")
	if (id == "") == (name == "") {
		return nil, failure("InvalidParameterCombination", "Either a launch template ID or a launch template name has to be given")
	}
	if t := c.templateBy(func(t *template) bool { return id != "" && t.id == id || name != "" && t.name == name }); t != nil {
		return t, nil
	}
	if id != "" {
		return nil, failure("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
	}
	return nil, failure("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", name)
}

func (c *Cloud) deleteLaunchTemplate(q *request) (any, *fault) {
	t, err := c.namedTemplate(q.form)
	if err != nil {
		return nil, err
	}
	if q.form.yes("DryRun") {
		return nil, dryRun()
	}
	c.templates = slices.DeleteFunc(c.templates, func(o *template) bool { return o == t })
	return &ec2.DeleteLaunchTemplateOutput{LaunchTemplate: c.describeTemplate(t)}, nil
}

// describeLaunchTemplates leaves out those younger than Options.Lag, named or not.
func (c *Cloud) describeLaunchTemplates(q *request) (any, *fault) {
	name := func(t *template) string { return t.name }
	seen := slices.DeleteFunc(slices.Clone(c.templates), func(t *template) bool { return c.now.Before(t.created.Add(c.opts.Lag)) })
	list, err := selected(q, seen, func(t *template) attributes {
		return table(map[string][]string{"launch-template-name": {t.name}, "create-time": {t.created.Format(timeFormat)}}, t.tags)
	}, selector[*template]{"LaunchTemplateName", name, "InvalidLaunchTemplateName.NotFoundException",
		"At least one of the launch templates specified in the request does not exist: %s"},
		selector[*template]{"LaunchTemplateId", func(t *template) string { return t.id }, "InvalidLaunchTemplateId.NotFound",
			"The specified launch template, with template ID %s, does not exist."})
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(c, q, list, name, 1, 200, 200)
	out := &ec2.DescribeLaunchTemplatesOutput{NextToken: next}
	for _, t := range page {
		out.LaunchTemplates = append(out.LaunchTemplates, *c.describeTemplate(t))
	}
	return out, err
}
