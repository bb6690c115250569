package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// NodeClass is the configuration that machines are launched from, as far as the
// fake is concerned.
type NodeClass struct {
	// Name is the name. Required.
	Name string
	// Hash stands for everything in it. Machines launched under another have
	// drifted.
	Hash string
	// NotReady is why it cannot be used. Empty means that it can.
	NotReady string
	// Images are the IDs of the images it allows; of them the newest is
	// booted, as PublishImage says. Machines that run one of them have not
	// drifted. Empty is the newest of all, and everything else has drifted.
	Images []string
}

// The reasons of drift.
const (
	// DriftNodeClass: the hash of the node class changed.
	DriftNodeClass = "NodeClassDrift"
	// DriftImage: the machine runs an image that its node class would not
	// choose.
	DriftImage = "ImageDrift"
)

// SupportedNodeClasses returns Options.NodeClassKinds.
func (c *Cloud) SupportedNodeClasses() []schema.GroupKind {
	return slices.Clone(c.opts.NodeClassKinds)
}

// NodeClassReady returns nil if machines can be launched from the node class
// now. Where Options.NodeClasses is nil all of them can. Otherwise the error is
// KindUnsupported for a kind that is not among Options.NodeClassKinds, KindNotFound for a
// name that is not there, and KindNotReady for a class with NodeClass.NotReady.
func (c *Cloud) NodeClassReady(ctx context.Context, ref v1.NodeClassReference) error {
	_, err := answer(c, ctx, call{op: OpNodeClassReady, object: ref.Name}, func(*orders) (struct{}, error) {
		_, err := c.class("NodeClassReady", ref)
		return struct{}{}, err
	})
	return err
}

// class returns the node class, nil where all exist, or why it cannot be used.
func (c *Cloud) class(op string, ref v1.NodeClassReference) (*NodeClass, error) {
	if c.classes == nil {
		return nil, nil
	}
	class, found := c.classes[ref.Name]
	switch {
	case !slices.Contains(c.opts.NodeClassKinds, ref.GroupKind()):
		return nil, &cloudprovider.Error{Op: op, Kind: cloudprovider.KindUnsupported, Object: ref.Name,
			Err: fmt.Errorf("node classes %s belong to another provider", ref.GroupKind())}
	case !found:
		return nil, &cloudprovider.Error{Op: op, Kind: cloudprovider.KindNotFound, Object: ref.Name,
			Err: errors.New("there is no node class of that name")}
	case class.NotReady != "":
		return nil, &cloudprovider.Error{Op: op, Kind: cloudprovider.KindNotReady, Object: ref.Name, Err: errors.New(class.NotReady)}
	}
	return class, nil
}

// IsDrifted compares a machine with its node class: first the hash, then the
// image.
func (c *Cloud) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
	var none cloudprovider.Drift
	if claim == nil {
		return none, denied("IsDrifted", "", errors.New("the claim is nil; pass one"))
	}
	id := claim.Status.ProviderID
	return answer(c, ctx, call{op: OpIsDrifted, object: id, offering: c.aboutInstance(id)}, func(*orders) (cloudprovider.Drift, error) {
		m, found := c.find(id)
		if !found {
			return none, c.notFound("IsDrifted", id)
		}
		class := c.classes[m.class.Name]
		if c.classes != nil && class == nil {
			return none, &cloudprovider.Error{Op: "IsDrifted", Kind: cloudprovider.KindNotFound, Object: m.class.Name,
				Err: errors.New("the node class is gone")}
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

// SetNodeClass returns the action that adds a node class, or changes the one of
// that name. From then on only node classes that were set exist.
func SetNodeClass(class NodeClass) Action {
	class.Images = slices.Clone(class.Images)
	return Action{
		text: "set node class " + class.Name,
		check: func(*Cloud) error {
			if class.Name == "" {
				return errors.New("node class: the name is empty; name it")
			}
			return nil
		},
		do: func(c *Cloud) {
			if c.classes == nil {
				c.classes = map[string]*NodeClass{}
			}
			c.classes[class.Name] = &class
			c.record(EventChanged, "node class "+class.Name, "hash %q", class.Hash)
		},
	}
}

// RemoveNodeClass returns the action that removes a node class. Machines that
// were launched from it run on. If there is none of that name, nothing happens.
func RemoveNodeClass(name string) Action {
	return Action{text: "remove node class " + name, do: func(c *Cloud) {
		if c.classes[name] != nil {
			delete(c.classes, name)
			c.record(EventChanged, "node class "+name, "removed")
		}
	}}
}

func (c *Cloud) checkClasses() (errs []error) {
	if c.opts.NodeClasses == nil {
		return nil
	}
	c.classes = map[string]*NodeClass{}
	for i, class := range c.opts.NodeClasses {
		if class.Name == "" {
			errs = append(errs, fmt.Errorf("NodeClasses[%d].Name: empty; name the node class", i))
		} else if c.classes[class.Name] != nil {
			errs = append(errs, fmt.Errorf("NodeClasses[%d].Name: %s is there twice; list each once", i, class.Name))
		}
		class.Images = slices.Clone(class.Images)
		c.classes[class.Name] = &class
	}
	return errs
}
