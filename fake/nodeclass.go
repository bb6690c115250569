package fake

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// NodeClass is the configuration that machines are launched from.
type NodeClass struct {
	// Name is the name. Required.
	Name string
	// Hash stands for its content. Machines that were launched with another hash have drifted.
	Hash string
	// NotReady is why it cannot be used. Empty means that it can.
	NotReady string
	// Images are the IDs of the allowed images. The newest of them is booted, and machines that run
	// one of them have not drifted. Empty means the newest of all images; machines that run another
	// one have drifted.
	Images []string
}

// The reasons of drift.
const (
	// DriftNodeClass: the hash of the node class changed.
	DriftNodeClass = "NodeClassDrift"
	// DriftImage: the machine runs an image that its node class does not select.
	DriftImage = "ImageDrift"
)

// SupportedNodeClasses returns Options.NodeClassKinds.
func (c *Cloud) SupportedNodeClasses() []schema.GroupKind {
	return slices.Clone(c.opts.NodeClassKinds)
}

// NodeClassReady returns nil if machines can be launched from the node class now. If
// Options.NodeClasses is nil every class is ready. Otherwise the error is KindUnsupported for a
// kind that is not among Options.NodeClassKinds, KindNotFound for an unknown name, and KindNotReady
// for a class with NodeClass.NotReady.
func (c *Cloud) NodeClassReady(ctx context.Context, ref v1.NodeClassReference) error {
	return do(c, ctx, call{op: OpNodeClassReady, object: ref.Name}, func(*orders) error {
		_, err := c.class("NodeClassReady", ref)
		return err
	})
}

// class returns the node class, nil if every class exists, or the error why it cannot be used.
func (c *Cloud) class(op string, ref v1.NodeClassReference) (*NodeClass, error) {
	if c.classes == nil {
		return nil, nil
	}
	class, found := c.classes[ref.Name]
	switch {
	case !slices.Contains(c.opts.NodeClassKinds, ref.GroupKind()):
		return nil, failure(op, ref.Name, cloudprovider.KindUnsupported, "node classes %s belong to another provider", ref.GroupKind())
	case !found:
		return nil, failure(op, ref.Name, cloudprovider.KindNotFound, "there is no node class of that name")
	case class.NotReady != "":
		return nil, failure(op, ref.Name, cloudprovider.KindNotReady, "%s", class.NotReady)
	}
	return class, nil
}

// IsDrifted compares a machine with its node class: first the hash, then the image.
func (c *Cloud) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
	var none cloudprovider.Drift
	if claim == nil {
		return none, failure("IsDrifted", "", cloudprovider.KindDenied, "the claim is nil; pass one")
	}
	id := claim.Status.ProviderID
	return answer(c, ctx, call{op: OpIsDrifted, object: id, offering: c.aboutInstance(id)}, func(*orders) (cloudprovider.Drift, error) {
		m, found := c.find(id)
		if !found {
			return none, c.notFound("IsDrifted", id)
		}
		class := c.classes[m.class.Name]
		if c.classes != nil && class == nil {
			return none, failure("IsDrifted", m.class.Name, cloudprovider.KindNotFound, "there is no node class of that name")
		}
		return c.drift(m, class), nil
	})
}

func (c *Cloud) drift(m *machine, class *NodeClass) cloudprovider.Drift {
	if class != nil && class.Hash != m.classHash {
		return cloudprovider.Drift{Reason: DriftNodeClass,
			Detail: fmt.Sprintf("node class %s is at %q, the machine was launched at %q", class.Name, class.Hash, m.classHash)}
	}
	has := m.instance.ImageID
	if class != nil && slices.Contains(class.Images, has) {
		return cloudprovider.Drift{}
	}
	want, found := c.imageFor(class, architecture(c.types[m.shelf.typ]))
	if !found || want.ID == has {
		return cloudprovider.Drift{}
	}
	return cloudprovider.Drift{Reason: DriftImage, Detail: fmt.Sprintf("image is %s, today it would be %s", has, want.ID)}
}

// setNodeClass adds a node class, or changes the one with the same name.
func (c *Cloud) setNodeClass(class NodeClass) {
	if c.classes == nil {
		c.classes = map[string]*NodeClass{}
	}
	class.Images = slices.Clone(class.Images)
	c.classes[class.Name] = &class
}

func (c *Cloud) setNodeClasses() (errs []error) {
	if c.opts.NodeClasses != nil {
		c.classes = map[string]*NodeClass{}
	}
	for i, class := range c.opts.NodeClasses {
		if class.Name == "" {
			errs = append(errs, fmt.Errorf("NodeClasses[%d].Name: empty; name the node class", i))
		} else if c.classes[class.Name] != nil {
			errs = append(errs, fmt.Errorf("NodeClasses[%d].Name: %s is there twice; list each once", i, class.Name))
		}
		c.setNodeClass(class)
	}
	return errs
}

// Image is a machine image. Only its ID is required: a zero Created means the time of publishing,
// an empty Architecture is for instance types without kubernetes.io/arch. From its DeprecationTime
// on new machines boot another image, if there is one.
type Image = amiselect.Image

// imageArchitecture converts a value of kubernetes.io/arch to the architecture of an image.
func imageArchitecture(arch string) string {
	if arch == v1.ArchitectureAmd64 {
		return "x86_64"
	}
	return arch
}

// architecture returns the architecture of a type; empty if it has several or none.
func architecture(t *cloudprovider.InstanceType) string {
	if r, known := t.Requirements.Get(corev1.LabelArchStable); known {
		if values, finite := r.Values(); finite && len(values) == 1 {
			return values[0]
		}
	}
	return ""
}

// publishAll publishes Options.Images, or by default one image for each architecture of the
// catalog.
func (c *Cloud) publishAll() (errs []error) {
	for i, image := range c.opts.Images {
		if _, twice := c.images[image.ID]; image.ID == "" {
			errs = append(errs, fmt.Errorf("Images[%d].ID: empty; name the image", i))
		} else if twice {
			errs = append(errs, fmt.Errorf("Images[%d].ID: %s is there twice; list each once", i, image.ID))
		}
		c.publish(image)
	}
	if c.opts.Images == nil {
		for _, t := range c.types {
			id := "image-" + architecture(t)
			// Older than all images that are published later, so that the name never decides.
			c.publish(Image{ID: id, Name: id, Architecture: imageArchitecture(architecture(t)), Created: c.now.AddDate(0, 0, -1)})
		}
	}
	return errs
}

// publish adds an image, or replaces the one with the same ID.
func (c *Cloud) publish(image Image) {
	if image.Created.IsZero() {
		image.Created = c.now
	}
	c.images[image.ID] = image
}

// imageFor returns the image that a new machine of an architecture boots, with a node class that
// may list images.
func (c *Cloud) imageFor(class *NodeClass, arch string) (best Image, found bool) {
	for _, i := range c.images {
		fits := i.Architecture == imageArchitecture(arch) && (i.State == "" || i.State == "available") &&
			(class == nil || len(class.Images) == 0 || slices.Contains(class.Images, i.ID))
		if fits && (!found || amiselect.Compare(c.now, i, best) < 0) {
			best, found = i, true
		}
	}
	return best, found
}
