package fake

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Image is a machine image. It has the fields of amiselect.Image, so that
// amiselect.Image(image) makes one of it.
type Image struct {
	// ID is the ID. Required.
	ID string
	// Name, OwnerID and OwnerAlias say what it is and whose.
	Name, OwnerID, OwnerAlias string
	// Architecture is x86_64 or arm64. Machines of another architecture do not
	// boot it. Empty is for instance types without kubernetes.io/arch.
	Architecture string
	// Created is when it was made. Zero means when it is published.
	Created time.Time
	// DeprecationTime is from when on new machines boot another one, if there
	// is one. Zero is never.
	DeprecationTime time.Time
	// State is its state. Empty and "available" are available; others are
	// never booted.
	State string
	// Tags are its tags.
	Tags map[string]string
}

// imageArchitecture turns a value of kubernetes.io/arch into that of an image.
func imageArchitecture(arch string) string {
	if arch == v1.ArchitectureAmd64 {
		return "x86_64"
	}
	return arch
}

// architecture of the machines of a type; empty if it has several or none.
func architecture(t *cloudprovider.InstanceType) string {
	if r, known := t.Requirements.Get(corev1.LabelArchStable); known {
		if values, finite := r.Values(); finite && len(values) == 1 {
			return values[0]
		}
	}
	return ""
}

// defaultImages has one image for each architecture of the catalog.
func (c *Cloud) defaultImages() (out []Image) {
	for _, t := range c.types {
		arch := architecture(t)
		id := "image-" + arch
		if !slices.ContainsFunc(out, func(i Image) bool { return i.ID == id }) {
			// Older than any that is published, lest the tie be broken by name.
			out = append(out, Image{ID: id, Name: id, Architecture: imageArchitecture(arch), Created: c.now.AddDate(0, 0, -1)})
		}
	}
	return out
}

// Images returns the images that are published, sorted by ID. The slice is the
// caller's, the tags are read-only.
func (c *Cloud) Images() []Image {
	c.enter()
	defer c.mu.Unlock()
	return slices.Clone(c.images)
}

// publish adds an image, or replaces the one of that ID.
func (c *Cloud) publish(image Image) {
	if image.Created.IsZero() {
		image.Created = c.now
	}
	i, found := slices.BinarySearchFunc(c.images, image.ID, func(i Image, id string) int { return strings.Compare(i.ID, id) })
	if found {
		c.images[i] = image
		return
	}
	c.images = slices.Insert(c.images, i, image)
}

// better orders images, the one to boot first: those not deprecated, then the
// newer, then by name from the end, then by ID. It is the order of amiselect.
func (c *Cloud) better(a, b *Image) bool {
	if x, y := a.deprecated(c.now), b.deprecated(c.now); x != y {
		return y
	}
	if n := a.Created.Compare(b.Created); n != 0 {
		return n > 0
	}
	if a.Name != b.Name {
		return a.Name > b.Name
	}
	return a.ID < b.ID
}

func (i *Image) deprecated(now time.Time) bool {
	return !i.DeprecationTime.IsZero() && !i.DeprecationTime.After(now)
}

// imageFor returns the image that a machine of an architecture boots today,
// with a node class that may pin some.
func (c *Cloud) imageFor(class *NodeClass, arch string) (*Image, bool) {
	var best *Image
	for n := range c.images {
		i := &c.images[n]
		switch {
		case i.Architecture != imageArchitecture(arch), i.State != "" && i.State != "available",
			class != nil && len(class.Images) > 0 && !slices.Contains(class.Images, i.ID):
			continue
		}
		if best == nil || c.better(i, best) {
			best = i
		}
	}
	return best, best != nil
}

// PublishImage returns the action that publishes an image, or replaces the one
// of that ID. Machines launched from then on boot the newest; those that run
// another have drifted, unless their node class pins it.
func PublishImage(image Image) Action {
	return Action{
		text: "publish image " + image.ID,
		check: func(*Cloud) error {
			if image.ID == "" {
				return errors.New("image: the ID is empty; name it")
			}
			return nil
		},
		do: func(c *Cloud) {
			c.publish(image)
			c.record(EventChanged, "image "+image.ID, "published")
		},
	}
}

// DeprecateImage returns the action that deprecates an image as of when it
// happens. If no image with that ID is published by then, nothing happens.
func DeprecateImage(id string) Action {
	return Action{text: "deprecate image " + id, do: func(c *Cloud) {
		for n := range c.images {
			if i := &c.images[n]; i.ID == id {
				i.DeprecationTime = c.now
				c.record(EventChanged, "image "+id, "deprecated")
			}
		}
	}}
}

func (c *Cloud) checkImages() (errs []error) {
	seen := map[string]bool{}
	for i, image := range c.opts.Images {
		if image.ID == "" {
			errs = append(errs, fmt.Errorf("Images[%d].ID: empty; name the image", i))
		} else if seen[image.ID] {
			errs = append(errs, fmt.Errorf("Images[%d].ID: %s is there twice; list each once", i, image.ID))
		}
		seen[image.ID] = true
	}
	return errs
}
