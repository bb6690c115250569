// Package awsinput reads a cluster in AWS from manifests: the objects that package manifest reads,
// and EC2NodeClasses.
package awsinput

import (
	"context"
	"errors"
	"fmt"
	"io"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
)

// Input is the content of the manifests.
type Input struct {
	Cluster *manifest.Cluster              // all objects
	Classes map[string]*awsv1.EC2NodeClass // by name
}

// Read reads the manifests of files, or the sample if there are none. The error has every
// fault of all of them.
func Read(files []string, stdin io.Reader, sample []byte) (*Input, error) {
	rules := manifest.Rules{NodePools: awsv1.NodePoolRules(), NodeOverlays: awsv1.NodeOverlayRules(), Classes: true}
	cluster, err := manifest.ReadFiles(rules, files, stdin, sample)
	if err != nil {
		return nil, err
	}
	if len(cluster.NodePools) == 0 {
		return nil, errors.New("the manifests have no NodePool; add one, and its EC2NodeClass")
	}
	in := &Input{Cluster: cluster, Classes: map[string]*awsv1.EC2NodeClass{}}
	for _, class := range cluster.Classes {
		in.Classes[class.Name] = class
	}
	var errs []error
	for _, p := range cluster.NodePools {
		ref := p.Spec.Template.Spec.NodeClassRef
		if ref != nil && (ref.Group != awsv1.Group || ref.Kind != awsv1.EC2NodeClassKind) {
			errs = append(errs, fmt.Errorf("NodePool %s: its nodeClassRef names the %s %s of %s, and nodes are launched from an EC2NodeClass of %s here; remove the NodePool, or name one",
				p.Name, ref.Kind, ref.Name, ref.Group, awsv1.Group))
		} else if ref != nil && in.Classes[ref.Name] == nil {
			errs = append(errs, fmt.Errorf("NodePool %s: there is no EC2NodeClass %q in the manifests; add it", p.Name, ref.Name))
		}
	}
	return in, errors.Join(errs...)
}

// Class returns the class of a name, which a controller reads from an informer.
func (in *Input) Class(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	if c := in.Classes[name]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("EC2NodeClass %s: %w", name, cloudprovider.ErrNotFound)
}

// Pools returns the NodePools, which a controller also reads from an informer.
func (in *Input) Pools(context.Context) ([]*karpv1.NodePool, error) { return in.Cluster.NodePools, nil }
