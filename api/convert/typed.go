package convert

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// Objects are decoded objects of Karpenter's kinds, each list in the order of the
// texts. They are neither defaulted nor validated.
type Objects struct {
	// NodePools are those that were NodePools or Provisioners.
	NodePools []*karpv1.NodePool
	// NodeClaims are those that were NodeClaims or Machines.
	NodeClaims []*karpv1.NodeClaim
	// NodeOverlays have been the same in all versions that had them.
	NodeOverlays []*karpv1.NodeOverlay
	// NodeClasses are those that were EC2NodeClasses or AWSNodeTemplates, or an
	// inline provider section of a Provisioner.
	NodeClasses []*awsv1.EC2NodeClass
}

// Decode converts sources, as Convert does, and decodes what is of Karpenter's
// kinds, strictly. Other kinds are passed over. Beside an error, which joins
// those of all documents that could not be decoded, the others are returned.
//
// A document that was not converted is of a version that cannot be decoded, and
// so is an error here, as is one of Karpenter's groups with a kind that is not known,
// and one of Karpenter's kinds without apiVersion.
func Decode(opts *Options, sources ...Source) (*Objects, []Note, error) {
	r := Convert(opts, sources...)
	objects := &Objects{}
	var errs []error
	for _, out := range r.Outputs {
		docs, err := karpv1.Documents(out.Data)
		errs = append(errs, named(out.Name, err))
		for _, doc := range docs {
			errs = append(errs, named(out.Name, objects.add(doc)))
		}
	}
	return objects, r.Notes, errors.Join(errs...)
}

func named(source string, err error) error {
	if err == nil || source == "" {
		return err
	}
	return fmt.Errorf("%s: %w", source, err)
}

// add decodes a document by its kind.
func (o *Objects) add(doc karpv1.Document) error {
	gvk := doc.GroupVersionKind()
	switch (schema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}) {
	case karpv1.Kind(karpv1.NodePoolKind):
		return decodeInto(doc, karpv1.GroupVersion.WithKind(karpv1.NodePoolKind), &karpv1.NodePool{}, &o.NodePools)
	case karpv1.Kind(karpv1.NodeClaimKind):
		return decodeInto(doc, karpv1.GroupVersion.WithKind(karpv1.NodeClaimKind), &karpv1.NodeClaim{}, &o.NodeClaims)
	case karpv1.Kind(karpv1.NodeOverlayKind):
		return decodeInto(doc, karpv1.GroupVersionAlpha.WithKind(karpv1.NodeOverlayKind), &karpv1.NodeOverlay{}, &o.NodeOverlays)
	case awsv1.Kind(awsv1.EC2NodeClassKind):
		return decodeInto(doc, awsv1.GroupVersion.WithKind(awsv1.EC2NodeClassKind), &awsv1.EC2NodeClass{}, &o.NodeClasses)
	case karpv1.Kind(kindProvisioner), karpv1.Kind(kindMachine), awsv1.Kind(kindNodeTemplate):
		return fmt.Errorf("%s %q of %s was not converted; see the notes", gvk.Kind, doc.Name(), gvk.GroupVersion())
	}
	switch {
	case gvk.Group == karpv1.Group || gvk.Group == awsv1.Group:
		return fmt.Errorf("%s %q: kind %s of %s is not known; correct kind or apiVersion", gvk.Kind, doc.Name(), gvk.Kind, gvk.GroupVersion())
	case gvk.Group == "" && gvk.Version == "" && ours(gvk.Kind):
		return fmt.Errorf("%s %q has no apiVersion; write the one that it was written for, such as %s", gvk.Kind, doc.Name(), versionOf(gvk.Kind))
	}
	return nil
}

func decodeInto[T runtime.Object](doc karpv1.Document, kind schema.GroupVersionKind, out T, to *[]T) error {
	if err := doc.Into(kind, out); err != nil {
		return err
	}
	*to = append(*to, out)
	return nil
}

// Pod returns a copy of a pod in the words of today: annotations, node selector,
// affinity, spread constraints and tolerations. Notes have no line. It is for
// pods that are read from a cluster. A nil pod stays nil.
func Pod(pod *corev1.Pod) (*corev1.Pod, []Note, error) {
	if pod == nil {
		return nil, nil, nil
	}
	return convertTyped(pod, "Pod", &corev1.Pod{})
}

// Node returns a copy of a node in the words of today: labels, annotations and
// taints. Notes have no line. A nil node stays nil.
func Node(node *corev1.Node) (*corev1.Node, []Note, error) {
	if node == nil {
		return nil, nil, nil
	}
	return convertTyped(node, "Node", &corev1.Node{})
}

// convertTyped takes a typed value through its JSON form, which gets the type
// that values from a typed client lack.
func convertTyped[T runtime.Object](value T, kind string, out T) (T, []Note, error) {
	var none T
	typed := value.DeepCopyObject()
	typed.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	data, err := json.Marshal(typed)
	if err != nil {
		return none, nil, err
	}
	data, notes := Bytes(data, nil)
	for i := range notes {
		notes[i].Line = 0
	}
	if err := json.Unmarshal(data, out); err != nil {
		return none, nil, err
	}
	if value.GetObjectKind().GroupVersionKind().Kind == "" {
		out.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return out, notes, nil
}
