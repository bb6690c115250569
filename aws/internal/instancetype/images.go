package instancetype

import (
	"fmt"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// image is an image of a class and its requirements.
type image struct {
	id    string
	needs requirements.Set
}

// newImages reads the images in the status of a class, in their order.
func newImages(class *awsv1.EC2NodeClass) ([]image, error) {
	vocabulary := awsv1.Vocabulary()
	var out []image
	for i := range class.Status.AMIs {
		ami := &class.Status.AMIs[i]
		needs, err := requirements.FromNodeSelectorRequirements(ami.Requirements, vocabulary)
		if err != nil {
			return nil, fmt.Errorf("EC2NodeClass %s: status.amis[%d] (%s): requirements: %w", class.Name, i, ami.ID, err)
		}
		out = append(out, image{ami.ID, needs})
	}
	return out, nil
}

// imageFor returns the first image that a machine with these labels can boot, and
// "" if there is none.
func (b *builder) imageFor(labels requirements.Set) string {
	for i := range b.images {
		if labels.Compatible(b.images[i].needs, requirements.EmptyVocabulary()) {
			return b.images[i].id
		}
	}
	return ""
}
