package awstest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// profile is an instance profile.
type profile struct {
	id, name, path, arn, role string
	created                   time.Time
	tags                      map[string]string
}

// InstanceProfile is an instance profile that exists.
type InstanceProfile struct {
	// Name and Path are those of the profile.
	Name, Path string
	// Role is the name of its role, empty if it has none.
	Role string
	// CreatedAt is when it was made.
	CreatedAt time.Time
	// Tags are its tags.
	Tags map[string]string
}

// InstanceProfiles returns all instance profiles, sorted by name.
func (c *Cloud) InstanceProfiles() []InstanceProfile {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []InstanceProfile
	for _, name := range slices.Sorted(maps.Keys(c.profiles)) {
		p := c.profiles[name]
		out = append(out, InstanceProfile{p.name, p.path, p.role, p.created, copied(p.tags)})
	}
	return out
}

// AddInstanceProfile adds an instance profile that the provider did not make, or replaces one of
// the same name. An empty path means /.
func (c *Cloud) AddInstanceProfile(p InstanceProfile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made := c.newProfile(p.Name, p.Path, copied(p.Tags))
	made.role = p.Role
	if !p.CreatedAt.IsZero() {
		made.created = p.CreatedAt
	}
}

func (c *Cloud) newProfile(name, path string, tags map[string]string) *profile {
	setDefault(&path, "/")
	p := &profile{id: strings.ToUpper(strings.ReplaceAll(c.id("AIPA"), "-", "")), name: name, path: path, created: c.now, tags: tags,
		arn: "arn:aws:iam::" + c.opts.Account + ":instance-profile" + path + name}
	c.profiles[name] = p
	return p
}

// usable reports whether EC2 knows a profile, which it does Options.Lag after it was made, and
// whether it has a role.
func (c *Cloud) usable(p *profile) bool {
	return p != nil && p.role != "" && !c.now.Before(p.created.Add(c.opts.Lag))
}

func (c *Cloud) describeProfile(p *profile, withTags bool) *iamtypes.InstanceProfile {
	x := &iamtypes.InstanceProfile{InstanceProfileName: &p.name, InstanceProfileId: &p.id, Arn: &p.arn, Path: &p.path, CreateDate: &p.created}
	if role := p.role; role != "" {
		x.Roles = []iamtypes.Role{{RoleName: &role, RoleId: new("AROA0000000000EXAMPLE"), Path: new("/"), CreateDate: &c.opts.Clock,
			Arn: new("arn:aws:iam::" + c.opts.Account + ":role/" + role)}}
	}
	for _, k := range slices.Sorted(maps.Keys(p.tags)) {
		if withTags {
			x.Tags = append(x.Tags, iamtypes.Tag{Key: &k, Value: new(p.tags[k])})
		}
	}
	return x
}

// named returns the profile that a request names.
func (c *Cloud) named(q *request) (*profile, *fault) {
	name := q.form.str("InstanceProfileName")
	if p := c.profiles[name]; p != nil {
		return p, nil
	}
	return nil, failure("NoSuchEntity", "Instance Profile %s cannot be found.", name)
}

func (c *Cloud) getProfile(q *request) (any, *fault) {
	p, err := c.named(q)
	if err != nil {
		return nil, err
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: c.describeProfile(p, true)}, nil
}

func (c *Cloud) createProfile(q *request) (any, *fault) {
	name, path := q.form.str("InstanceProfileName"), q.form.str("Path")
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+=,.@_-") == ""
	switch {
	case name == "" || len(name) > 128 || !plain:
		return nil, failure("ValidationError", "The specified value for instanceProfileName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-")
	case path != "" && (!strings.HasPrefix(path, "/") || !strings.HasSuffix(path, "/") || len(path) > 512):
		return nil, failure("ValidationError", "The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.")
	case c.profiles[name] != nil:
		return nil, failure("EntityAlreadyExists", "Instance Profile %s already exists.", name)
	}
	return &iam.CreateInstanceProfileOutput{
		InstanceProfile: c.describeProfile(c.newProfile(name, path, q.form.tags("Tags.member")), true),
	}, nil
}

func (c *Cloud) deleteProfile(q *request) (any, *fault) {
	p, err := c.named(q)
	if err != nil {
		return nil, err
	}
	if p.role != "" {
		return nil, failure("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(c.profiles, p.name)
	return &struct{}{}, nil
}

func (c *Cloud) addRole(q *request) (any, *fault) {
	p, err := c.named(q)
	role := q.form.str("RoleName")
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(c.opts.Roles, role):
		return nil, failure("NoSuchEntity", "The role with name %s cannot be found.", role)
	case p.role != "":
		return nil, failure("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.role = role
	return &struct{}{}, nil
}

func (c *Cloud) removeRole(q *request) (any, *fault) {
	p, err := c.named(q)
	role := q.form.str("RoleName")
	if err != nil {
		return nil, err
	}
	if p.role != role || role == "" {
		return nil, failure("NoSuchEntity", "The role with name %s cannot be found.", role)
	}
	p.role = ""
	return &struct{}{}, nil
}

// listProfiles answers ListInstanceProfiles. As in IAM, the answer has no tags.
func (c *Cloud) listProfiles(q *request) (any, *fault) {
	var list []iamtypes.InstanceProfile
	for _, name := range slices.Sorted(maps.Keys(c.profiles)) {
		if p := c.profiles[name]; strings.HasPrefix(p.path, q.form.str("PathPrefix")) {
			list = append(list, *c.describeProfile(p, false))
		}
	}
	size, asked := q.form.num("MaxItems")
	if !asked {
		size = 100
	} else if size < 1 || size > 1000 {
		return nil, failure("ValidationError", "MaxItems is %d; it has to be between 1 and 1000", size)
	}
	page, next, err := cut(c, q, list, func(p iamtypes.InstanceProfile) string { return *p.InstanceProfileName }, size, q.form.str("Marker"))
	return &iam.ListInstanceProfilesOutput{InstanceProfiles: page, IsTruncated: next != nil, Marker: next}, err
}
