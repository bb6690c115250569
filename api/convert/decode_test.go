package convert_test

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dovetail-sdk/dovetail/api/convert"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// objects are what conversion made of Karpenter's kinds.
type objects struct {
	NodePools    []*karpv1.NodePool
	NodeClaims   []*karpv1.NodeClaim
	NodeOverlays []*karpv1.NodeOverlay
	NodeClasses  []*awsv1.EC2NodeClass
}

// decode converts a text and decodes what is of Karpenter's kinds, strictly. An older
// version that is left is a fault.
func decode(opts *convert.Options, text string) (*objects, []convert.Note, error) {
	data, notes := convert.Bytes([]byte(text), opts)
	docs, err := karpv1.Documents(data)
	errs := []error{err}
	out := &objects{}
	for _, doc := range docs {
		gvk := doc.GroupVersionKind()
		switch (schema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}) {
		case karpv1.Kind(karpv1.NodePoolKind):
			err = into(doc, karpv1.GroupVersion.WithKind(gvk.Kind), &karpv1.NodePool{}, &out.NodePools)
		case karpv1.Kind(karpv1.NodeClaimKind):
			err = into(doc, karpv1.GroupVersion.WithKind(gvk.Kind), &karpv1.NodeClaim{}, &out.NodeClaims)
		case karpv1.Kind(karpv1.NodeOverlayKind):
			err = into(doc, karpv1.GroupVersionAlpha.WithKind(gvk.Kind), &karpv1.NodeOverlay{}, &out.NodeOverlays)
		case awsv1.Kind(awsv1.EC2NodeClassKind):
			err = into(doc, awsv1.GroupVersion.WithKind(gvk.Kind), &awsv1.EC2NodeClass{}, &out.NodeClasses)
		default:
			err = nil
			if gvk.Group == karpv1.Group || gvk.Group == awsv1.Group {
				err = fmt.Errorf("%s %q of %s was not converted", gvk.Kind, doc.Name(), gvk.GroupVersion())
			}
		}
		errs = append(errs, err)
	}
	return out, notes, errors.Join(errs...)
}

func into[T runtime.Object](doc karpv1.Document, kind schema.GroupVersionKind, out T, to *[]T) error {
	if err := doc.Into(kind, out); err != nil {
		return err
	}
	*to = append(*to, out)
	return nil
}
