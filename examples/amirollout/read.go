package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
)

type input struct {
	Class  string                       // name of the EC2NodeClass
	Terms  []amiselect.Term             // its amiSelectorTerms
	Pools  map[string]*budgets.Compiled // by name
	Images []amiselect.Image            // to select from
	Nodes  []amiselect.Node             // of the class, sorted by name
	Counts map[string]budgets.Counts    // of all nodes, by pool
	Others int                          // nodes of other classes
}

// read reads three files, and the sample of each file that is not named. It reports the faults of all
// three together. What one object says of another is judged once every object can be read.
func (s *settings) read(stdin io.Reader) (*input, error) {
	in := &input{Pools: map[string]*budgets.Compiled{}, Counts: map[string]budgets.Counts{}}
	var errs []error
	var sources []manifest.Source
	for i, file := range [3]struct{ name, sample string }{{s.manifest, sampleClass}, {s.nodes, sampleNodes}, {s.images, sampleImages}} {
		source := manifest.Source{Name: cmp.Or(file.name, "sample"), Data: []byte(file.sample)}
		if file.name != "" {
			var err error
			if source.Data, err = command.ReadFile(file.name, stdin); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		if i < 2 {
			sources = append(sources, source)
			continue
		}
		images, err := amiselect.ReadImages(source.Data)
		in.Images = images
		errs = append(errs, inFile(source.Name, err))
	}
	cluster, err := manifest.Read(manifest.Rules{NodePools: catalog.NodePoolRules()}, sources...)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	for _, pool := range cluster.NodePools {
		compiled, err := budgets.Compile(pool.Spec.Disruption.Budgets, nil)
		in.Pools[pool.Name] = compiled
		errs = append(errs, err)
	}
	class, err := command.Choose(awsv1.EC2NodeClassKind, "class", s.className, cluster.ClassObjects)
	errs = append(errs, inFile(sources[0].Name, err))
	if err == nil {
		errs = append(errs, in.readClass(class), inFile(sources[1].Name, in.claims(cluster)))
	}
	return in, errors.Join(errs...)
}

// inFile puts the name of a file before each line of an error.
func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(name + ": " + strings.ReplaceAll(err.Error(), "\n", "\n"+name+": "))
}

// readClass reads the fields of an EC2NodeClass that this program uses. Faults of other fields do not
// matter, which may be of any version.
func (in *input) readClass(o *manifest.Object) error {
	if o.APIVersion != awsv1.GroupVersion.String() {
		return o.Fault("apiVersion", "%s is not read; convert it to %s", o.APIVersion, awsv1.GroupVersion)
	}
	var faults field.ErrorList
	_, err := awsv1.DecodeEC2NodeClass(o.JSON)
	if broken, ok := errors.AsType[*v1.DecodeError](err); ok {
		faults = slices.DeleteFunc(broken.Faults, func(f *field.Error) bool { return !strings.HasPrefix(f.Field, "spec.ami") && f.Field != "spec" })
	}
	if in.Class = o.Name; len(faults) == 0 {
		var class struct {
			Spec struct {
				AMIFamily        amiselect.Family
				AMISelectorTerms []amiselect.Term
			}
		}
		_ = json.Unmarshal(o.JSON, &class) // both were decoded
		spec := field.NewPath("spec")
		in.Terms = class.Spec.AMISelectorTerms
		if faults = amiselect.ValidateTerms(spec.Child("amiSelectorTerms"), in.Terms); len(faults) == 0 {
			_, faults = amiselect.ResolveFamily(spec, class.Spec.AMIFamily, in.Terms)
		}
	}
	var errs []error
	for _, f := range faults {
		errs = append(errs, o.Fault(f.Field, "%s", f.ErrorBody()))
	}
	return errors.Join(errs...)
}

// claims reads the nodes from the NodeClaims.
func (in *input) claims(cluster *manifest.Cluster) error {
	types := map[string]*cloudprovider.InstanceType{}
	for _, t := range fake.Catalog() {
		types[t.Name] = t
	}
	var errs []error
	for _, n := range cluster.Nodes {
		claim := n.NodeClaim
		if claim == nil {
			continue
		}
		pool, typeName := claim.Labels[v1.NodePoolLabelKey], claim.Labels[corev1.LabelInstanceTypeStable]
		// Percentages of budgets count the nodes of a pool with any class.
		in.Counts[pool] = budgets.Counts{Nodes: in.Counts[pool].Nodes + 1}
		if claim.Spec.NodeClassRef.Name != in.Class {
			in.Others++
			continue
		}
		if in.Pools[pool] == nil {
			errs = append(errs, fmt.Errorf("NodeClaim %s: metadata.labels[%s]: NodePool %q is not in the manifest", claim.Name, v1.NodePoolLabelKey, pool))
		}
		if types[typeName] == nil {
			errs = append(errs, fmt.Errorf("NodeClaim %s: metadata.labels[%s]: %q is not an instance type of the catalog", claim.Name, corev1.LabelInstanceTypeStable, typeName))
		}
		in.Nodes = append(in.Nodes, amiselect.Node{Name: claim.Name, NodePool: pool, ImageID: claim.Status.ImageID,
			InstanceType: types[typeName], Created: claim.CreationTimestamp.Time})
	}
	if len(in.Counts) == 0 {
		errs = append(errs, fmt.Errorf(`holds no %s; give what "kubectl get nodeclaims -o yaml" prints`, v1.NodeClaimKind))
	}
	slices.SortFunc(in.Nodes, func(a, b amiselect.Node) int { return strings.Compare(a.Name, b.Name) })
	return errors.Join(errs...)
}
