package amiselect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Image is a machine image (AMI) as DescribeImages tells of it.
type Image struct {
	// ID is the id, unique within a region. Required.
	ID string
	// Name is the name its owner gave it.
	Name string
	// OwnerID is the account of the owner.
	OwnerID string
	// OwnerAlias is amazon, aws-marketplace or aws-backup-vault for images of
	// these, and empty for others.
	OwnerAlias string
	// Architecture is x86_64 or arm64; images of others are passed over.
	Architecture string
	// Created is when the image was made. Required.
	Created time.Time
	// DeprecationTime is when its owner advises against it; zero is never.
	DeprecationTime time.Time
	// State is the state; images that are not available are passed over. Empty
	// is available.
	State string
	// Tags are the tags.
	Tags map[string]string
}

// Deprecated reports whether the image is deprecated at the given time: its
// DeprecationTime has come.
func (i Image) Deprecated(now time.Time) bool {
	return !i.DeprecationTime.IsZero() && !i.DeprecationTime.After(now)
}

// Equal reports whether two images agree in every field: times by the instant, and
// tags that are empty with tags that are missing.
func (i Image) Equal(o Image) bool {
	return i.ID == o.ID && i.Name == o.Name && i.OwnerID == o.OwnerID && i.OwnerAlias == o.OwnerAlias &&
		i.Architecture == o.Architecture && i.Created.Equal(o.Created) &&
		i.DeprecationTime.Equal(o.DeprecationTime) && i.State == o.State && maps.Equal(i.Tags, o.Tags)
}

// String renders id and name for people.
func (i Image) String() string {
	if i.Name == "" {
		return i.ID
	}
	return i.ID + " (" + i.Name + ")"
}

// Compare orders images, the preferred one first, at the given time:
//
//  1. those not deprecated before deprecated ones;
//  2. the one created later;
//  3. the one whose name is greater in byte order: names end in dates or
//     versions;
//  4. the one whose id is smaller in byte order.
//
// It is the one order of this package: winners and lists follow it.
func Compare(now time.Time, a, b Image) int { return compareImages(now, &a, &b) }

func compareImages(now time.Time, a, b *Image) int {
	if x, y := a.Deprecated(now), b.Deprecated(now); x != y {
		if x {
			return 1
		}
		return -1
	}
	return cmp.Or(b.Created.Compare(a.Created), strings.Compare(b.Name, a.Name), strings.Compare(a.ID, b.ID))
}

// available reports whether instances can boot the image.
func (i *Image) available() bool { return i.State == "" || i.State == "available" }

// ownedBy reports whether the image is of one of the owners; nil is all.
func (i *Image) ownedBy(owners []string, account string) bool {
	if owners == nil {
		return true
	}
	for _, o := range owners {
		switch {
		case o == ownerSelf && account != "" && i.OwnerID == account:
			return true
		case o != ownerSelf && (o == i.OwnerAlias || o == i.OwnerID):
			return true
		}
	}
	return false
}

// catalog holds the images of a call, each once. Their order is the caller's and
// must not show: what is picked from them is picked by Compare, which is total.
type catalog struct {
	images []*Image
	byID   map[string]*Image
}

// newCatalog copies the images. An image that is listed several times counts
// once; the same id with different facts is a fault, as are images without id or
// time of creation.
func newCatalog(images []Image) (*catalog, error) {
	c := &catalog{byID: make(map[string]*Image, len(images)), images: make([]*Image, 0, len(images))}
	own := slices.Clone(images)
	var errs []error
	for n := range own {
		i := &own[n]
		if i.ID == "" {
			errs = append(errs, fmt.Errorf("images[%d]: has no id (name %q); every image must have one", n, shorten(i.Name)))
			continue
		}
		first, twice := c.byID[i.ID]
		switch {
		case !twice:
			c.byID[i.ID] = i
			c.images = append(c.images, i)
		case !first.Equal(*i):
			errs = append(errs, fmt.Errorf("images[%d]: %s is listed before with other facts; describe all images at one time", n, shorten(i.ID)))
		}
		if i.Created.IsZero() {
			errs = append(errs, fmt.Errorf("images[%d]: %s has no time of creation, so it cannot be told whether it is newer than others", n, shorten(i.ID)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}
