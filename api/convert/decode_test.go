package convert_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dovetail-sdk/dovetail/api/convert"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// convertText converts one text without a name.
func convertText(text string, opts *convert.Options) (string, []convert.Note) {
	r := convert.Convert([]convert.Source{{Data: []byte(text)}}, opts)
	return string(r.Outputs[0].Data), r.Notes
}

// objects are what conversion made of Karpenter's kinds.
type objects struct {
	NodePools    []*karpv1.NodePool
	NodeClaims   []*karpv1.NodeClaim
	NodeOverlays []*karpv1.NodeOverlay
	NodeClasses  []*awsv1.EC2NodeClass
}

// one converts a text that can be converted as a whole.
func one(t *testing.T, opts *convert.Options, text string) (*objects, []convert.Note) {
	t.Helper()
	objects, notes, err := decode(opts, text)
	require.NoError(t, err, "%v", notes)
	return objects, notes
}

// decode converts a text and decodes what is of Karpenter's kinds, strictly. An older
// version that is left is a fault.
func decode(opts *convert.Options, text string) (*objects, []convert.Note, error) {
	data, notes := convertText(text, opts)
	docs, err := karpv1.Documents([]byte(data))
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
