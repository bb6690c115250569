package nodeclass_test

import (
	"errors"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const latestImage = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"

// A parameter that does not exist, and one that could not be read.
func TestParameterMissingIsNotFailure(t *testing.T) {
	c, k := &Cloud{Parameters: map[string]string{latestImage: "ami-1"}}, newClock()
	s := sources(t, c, k)
	get := func(name string, mutable bool) (string, cache.Reading, error) { return s.Parameter(bg, name, mutable) }
	value, _, err := get(latestImage, true)
	require.NoError(t, err)
	require.Equal(t, "ami-1", value)
	value, reading, err := get("/gone", false)
	require.NoError(t, err)
	require.Empty(t, value)
	require.False(t, reading.Stale)
	_, _, _ = get("/gone", false)
	require.Equal(t, 2, c.Calls()["GetParameter"], "that there is none is remembered too")

	fail(c, "GetParameter", throttled("GetParameter"))
	_, _, err = get("/other", false)
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)
	k.Step(5 * time.Minute)
	_ = s.Refresh(bg)
	value, reading, err = get(latestImage, true)
	require.NoError(t, err)
	require.Equal(t, "ami-1", value)
	require.True(t, reading.Stale)

	// Withdrawn: that is an answer, which counts over what was.
	fail(c, "GetParameter", nil)
	c.Change(func(c *Cloud) { c.Parameters = map[string]string{"/gone": "ami-2"} })
	k.Step(5 * time.Minute)
	_ = s.Refresh(bg)
	value, reading, err = get(latestImage, true)
	require.NoError(t, err)
	require.Empty(t, value)
	require.False(t, reading.Stale)
	_, _, _ = get("/gone", false)
	_ = s.Refresh(bg)
	value, _, _ = get("/gone", false)
	require.Equal(t, "ami-2", value, "published by now")
	c.Calls()
	for range 23 {
		k.Step(time.Hour)
		value, _, _ = get("/gone", false)
		require.Equal(t, "ami-2", value)
	}
	_ = s.Refresh(bg) // the other one
	require.NotContains(t, c.Asked(), "GetParameter /gone", "a release does not change")
}

func TestParameterWithoutClient(t *testing.T) {
	s := sources(t, region(t), newClock(), func(c *api.Clients, _ *nodeclass.Options) { c.SSM = nil })
	require.False(t, s.ReadsParameters())
	_, _, err := s.Parameter(bg, latestImage, true)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func image(id, name, owner, alias string) ec2types.Image {
	i := ec2types.Image{ImageId: &id, Name: &name, OwnerId: &owner, Architecture: ec2types.ArchitectureValuesX8664,
		State: ec2types.ImageStateAvailable, CreationDate: new("2026-09-01T10:00:00.000Z")}
	if alias != "" {
		i.ImageOwnerAlias = &alias
	}
	return i
}

func TestImages(t *testing.T) {
	mine := image("ami-2", "base-2", "123456789012", "")
	mine.Tags, mine.DeprecationTime = tags("team", "web"), new("2027-03-01T00:00:00Z")
	c := &Cloud{PageSize: 1, Images: []ec2types.Image{mine, image("ami-1", "base-1", "602401143452", "amazon"), image("ami-3", "base-3", "999999999999", "")}}
	c.Images = append(c.Images, mine)
	k := newClock()
	s := sources(t, c, k)
	account, err := s.Account(bg)
	require.NoError(t, err)
	require.Empty(t, account)
	q := amiselect.Query{Kind: amiselect.QueryImages, Owners: []string{"123456789012", "amazon"}, IncludeDeprecated: true,
		Filters: []amiselect.Filter{{Name: "state", Values: []string{"available"}}, {Name: "name", Values: []string{"base-*"}}}}
	got, _, err := s.Images(bg, q)
	require.NoError(t, err)
	require.Equal(t, []amiselect.Image{
		{ID: "ami-1", Name: "base-1", OwnerID: "602401143452", OwnerAlias: "amazon", Architecture: "x86_64", State: "available",
			Created: time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)},
		{ID: "ami-2", Name: "base-2", OwnerID: "123456789012", Architecture: "x86_64", State: "available",
			Created: time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC), DeprecationTime: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
			Tags: map[string]string{"team": "web"}},
	}, got)
	c.Calls()
	_, _, _ = s.Images(bg, q)
	require.Empty(t, c.Calls())
	q.Owners = []string{"999999999999"}
	got, _, err = s.Images(bg, q)
	require.NoError(t, err)
	require.Len(t, got, 1, "other owners are another question")
}

// The account that asks is told by what is its own.
func TestAccount(t *testing.T) {
	c := &Cloud{Images: []ec2types.Image{image("ami-1", "a", "602401143452", "amazon"), image("ami-2", "b", "111122223333", "")}}
	s := sources(t, c, newClock())
	_, _, err := s.Images(bg, amiselect.Query{Owners: []string{"self", "amazon"}})
	require.NoError(t, err)
	account, err := s.Account(bg)
	require.NoError(t, err)
	require.Equal(t, "111122223333", account)

	s = sources(t, region(t), newClock())
	account, err = s.Account(bg)
	require.NoError(t, err)
	require.Equal(t, "123456789012", account, "that of the cluster")
	s = sources(t, region(t), newClock(), func(_ *api.Clients, o *nodeclass.Options) { o.Account = "444455556666" })
	account, err = s.Account(bg)
	require.NoError(t, err)
	require.Equal(t, "444455556666", account)
}

// An image that makes no sense must not make an older one look like the newest.
func TestImagesUnreadable(t *testing.T) {
	odd := image("ami-1", "base-1", "123456789012", "")
	odd.CreationDate, odd.DeprecationTime = new("yesterday"), new("tomorrow")
	nameless := image("", "base-2", "123456789012", "")
	c := &Cloud{Images: []ec2types.Image{odd, nameless}}
	_, _, err := sources(t, c, newClock()).Images(bg, amiselect.Query{})
	for _, want := range []string{"ami-1: creation date", "yesterday", "tomorrow", `"base-2" has no id`} {
		require.ErrorContains(t, err, want)
	}
}

func FuzzImages(f *testing.F) {
	f.Add("ami-1", "name", "2026-09-01T10:00:00.000Z", "2026-11-01T10:00:00Z", "x86_64", "k")
	f.Add("", "", "", "", "", "")
	f.Add("ami-2", "*", "0001-01-01T00:00:00Z", "x", "mac", "")
	k := newClock()
	f.Fuzz(func(t *testing.T, id, name, created, deprecated, arch, tag string) {
		i := ec2types.Image{ImageId: &id, Name: &name, CreationDate: &created, DeprecationTime: &deprecated,
			Architecture: ec2types.ArchitectureValues(arch), Tags: []ec2types.Tag{{Key: &tag}, {}}}
		c := &Cloud{Images: []ec2types.Image{i, {}}}
		if id != "" {
			c.Images = c.Images[:1]
		}
		s, err := nodeclass.NewSources(c.Clients(), nodeclass.Options{Region: "us-east-1", Now: k.Now})
		require.NoError(t, err)
		got, _, err := s.Images(bg, amiselect.Query{})
		if err != nil {
			var e *cloudprovider.Error
			require.ErrorAs(t, err, &e)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Len(t, got, 1)
		require.False(t, got[0].Created.IsZero())
		_, err = amiselect.Select(Noon, []amiselect.Term{{ID: "ami-1"}}, got, nil)
		if err != nil {
			require.ErrorIs(t, err, amiselect.ErrNoImage)
		}
	})
}
