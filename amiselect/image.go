package amiselect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Image is a machine image (AMI) as DescribeImages describes it.
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
	// Architecture is x86_64 or arm64; images of other architectures are not selected.
	Architecture string
	// Created is when the image was made. Required.
	Created time.Time
	// DeprecationTime is when it becomes deprecated; zero means never.
	DeprecationTime time.Time
	// State is the state; only images in state available are selected. Empty means available.
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
// Selections and lists of this package use this order.
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

// catalog has the images of a call without duplicates, in the caller's order. The order does not
// affect results, because selections use Compare, which is a total order.
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

// ParseTime reads a time as DescribeImages writes it, such as
// 2024-08-07T18:11:01.000Z, and returns it in UTC. The error, for any other text, says
// what is wanted.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.IsZero() {
		return time.Time{}, fmt.Errorf("time %q: want year to second and a zone, such as 2024-08-07T18:11:01.000Z", shorten(text))
	}
	return t.UTC(), nil
}

// imageJSON is an entry of the answer of DescribeImages.
type imageJSON struct {
	ID              string `json:"ImageId"`
	Name            string
	OwnerID         string `json:"OwnerId"`
	OwnerAlias      string `json:"ImageOwnerAlias"`
	Architecture    string
	CreationDate    string
	DeprecationTime string
	State           string
	Tags            []struct{ Key, Value string }
}

// ReadImages reads what "aws ec2 describe-images" prints: a JSON object with the list Images.
// Fields that this package does not use are ignored. The images are in the order of the text. The
// caller owns them.
//
// The error joins all faults, each with its path: an image without id, one
// without time of creation or with one that cannot be read, a tag listed twice.
func ReadImages(data []byte) ([]Image, error) {
	var answer struct{ Images *[]imageJSON }
	dec := json.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&answer); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("images: there is no text; give what aws ec2 describe-images --output json prints")
	case err != nil:
		return nil, fmt.Errorf("images: not the answer of describe-images: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("images: there is text behind the JSON object; remove it")
	}
	if answer.Images == nil {
		return nil, errors.New("images: the object has no list Images; give what aws ec2 describe-images --output json prints")
	}
	var errs []error
	out := make([]Image, 0, len(*answer.Images))
	for n := range *answer.Images {
		image, err := (*answer.Images)[n].image(fmt.Sprintf("Images[%d]", n))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, image)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

func (j *imageJSON) image(path string) (Image, error) {
	i := Image{ID: j.ID, Name: j.Name, OwnerID: j.OwnerID, OwnerAlias: j.OwnerAlias,
		Architecture: j.Architecture, State: j.State}
	var errs []error
	if j.ID == "" {
		errs = append(errs, fmt.Errorf("%s.ImageId: is missing", path))
	}
	var err error
	if i.Created, err = ParseTime(j.CreationDate); err != nil {
		errs = append(errs, fmt.Errorf("%s.CreationDate: %w", path, err))
	}
	if j.DeprecationTime != "" {
		if i.DeprecationTime, err = ParseTime(j.DeprecationTime); err != nil {
			errs = append(errs, fmt.Errorf("%s.DeprecationTime: %w", path, err))
		}
	}
	if len(j.Tags) > 0 {
		i.Tags = make(map[string]string, len(j.Tags))
	}
	for n, tag := range j.Tags {
		if _, twice := i.Tags[tag.Key]; twice {
			errs = append(errs, fmt.Errorf("%s.Tags[%d].Key: %q is listed twice", path, n, shorten(tag.Key)))
		}
		i.Tags[tag.Key] = tag.Value
	}
	return i, errors.Join(errs...)
}
