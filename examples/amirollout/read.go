package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	sigsjson "sigs.k8s.io/json"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
)

// The node class that is read.
const (
	classKind       = "EC2NodeClass"
	classAPIVersion = "karpenter.k8s.aws/v1"
)

// text names a file to read: "-" is standard input, and an empty name the sample.
type text struct{ name, sampleName, sample string }

// files names the files to read.
type files struct {
	manifest, images, nodes text
	class                   string // name of the EC2NodeClass; may be empty if the manifest has only one
}

// input is everything that was read.
type input struct {
	Class  string                       // name of the EC2NodeClass
	Terms  []amiselect.Term             // its amiSelectorTerms
	Family amiselect.Family             // its amiFamily, or that of the alias
	Pools  map[string]*budgets.Compiled // by name
	Images []amiselect.Image            // to select from
	Nodes  []amiselect.Node             // of the class, sorted by name
	Counts map[string]budgets.Counts    // of all nodes, by pool
	Others int                          // nodes of other classes
}

// reader collects input and faults.
type reader struct {
	input
	types  map[string]*cloudprovider.InstanceType
	faults []error
}

// read reads all files. It reports the faults of all of them together.
func read(files files, stdin io.Reader) (*input, error) {
	r := &reader{types: map[string]*cloudprovider.InstanceType{}}
	r.Pools, r.Counts = map[string]*budgets.Compiled{}, map[string]budgets.Counts{}
	for _, t := range fake.Catalog() {
		r.types[t.Name] = t
	}
	if f, ok := r.open(files.manifest, stdin); ok {
		r.manifest(f, files.class)
	}
	// If the pools are not known, every node would seem to be of none.
	known := len(r.faults) == 0
	if f, ok := r.open(files.images, stdin); ok {
		images, err := amiselect.ReadImages(f.data)
		r.add(f.name, "", err)
		r.Images = images
	}
	if f, ok := r.open(files.nodes, stdin); ok {
		r.claims(f, known)
	}
	return &r.input, errors.Join(r.faults...)
}

// file is a file that was read.
type file struct {
	name string
	data []byte
}

func (r *reader) open(of text, stdin io.Reader) (file, bool) {
	name := of.name
	if name == "" {
		return file{of.sampleName, []byte(of.sample)}, true
	}
	data, err := command.ReadFile(name, stdin)
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = fmt.Errorf("%s: there is nothing in it; look whether the command that wrote it failed", name)
	}
	if err != nil {
		r.faults = append(r.faults, err)
	}
	return file{name, data}, err == nil
}

// add adds an error with its file and object, one fault for each line.
func (r *reader) add(file, object string, err error) {
	if err == nil {
		return
	}
	for line := range strings.Lines(err.Error()) {
		where := file
		if object != "" {
			where += ": " + object
		}
		r.faults = append(r.faults, fmt.Errorf("%s: %s", where, strings.TrimRight(line, "\n")))
	}
}

// documents reads the objects of a file. A file that is an unrendered template is one fault.
func (r *reader) documents(f file) ([]v1.Document, error) {
	docs, err := v1.Documents(f.data)
	if template := manifest.Unrendered(manifest.Source{Name: f.name, Data: f.data}); err != nil && template != nil {
		r.faults = append(r.faults, template)
		return nil, err
	}
	r.add(f.name, "", err)
	return docs, err
}

// manifest reads the pools and one node class: the one with the given name, or the only one if the
// name is empty.
func (r *reader) manifest(f file, class string) {
	docs, err := r.documents(f)
	var names []string
	wanted := 0
	for _, doc := range docs {
		object := doc.GroupVersionKind().Kind + " " + doc.Name()
		switch doc.GroupVersionKind().Kind {
		case classKind:
			names = append(names, doc.Name())
			if class == "" || class == doc.Name() {
				wanted++
				r.add(f.name, object, r.nodeClass(doc))
			}
		case v1.NodePoolKind:
			r.add(f.name, object, r.pool(doc))
		}
	}
	if wanted != 1 && err == nil {
		r.add(f.name, "", choose(class, names))
	}
}

// choose returns an error that says how to choose a class if the manifest does not have exactly one
// of the name.
func choose(class string, names []string) error {
	slices.Sort(names)
	there := strings.Join(slices.Compact(slices.Clone(names)), ", ")
	switch {
	case len(names) == 0:
		return fmt.Errorf("holds no %s; add the one to look at", classKind)
	case !slices.Contains(names, class) && class != "":
		return fmt.Errorf("holds no %s %s; -class is one of %s", classKind, class, there)
	case class != "" || !strings.Contains(there, ", "):
		return fmt.Errorf("holds %s %s more than once; remove the others", classKind, cmp.Or(class, there))
	}
	return fmt.Errorf("holds %d objects of kind %s; name one of %s with -class", len(names), classKind, there)
}

// nodeClass reads the fields of an EC2NodeClass that this program uses. The terms are decoded
// strictly; other fields may be of any version.
func (r *reader) nodeClass(doc v1.Document) error {
	var class struct {
		APIVersion string
		Spec       struct {
			AMIFamily        amiselect.Family
			AMISelectorTerms json.RawMessage
		}
	}
	if err := json.Unmarshal(doc.JSON(), &class); err != nil {
		return err
	}
	if class.APIVersion != classAPIVersion {
		return fmt.Errorf("apiVersion: %q is not read; convert it to %s", class.APIVersion, classAPIVersion)
	}
	r.Class = doc.Name()
	r.Terms = nil // a second class is a fault, but not one of the first one's terms
	path := field.NewPath("spec", "amiSelectorTerms")
	if len(class.Spec.AMISelectorTerms) > 0 {
		strict, err := sigsjson.UnmarshalStrict(class.Spec.AMISelectorTerms, &r.Terms)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for i := range strict {
			strict[i] = fmt.Errorf("%s: %w", path, strict[i])
		}
		if len(strict) > 0 {
			return errors.Join(strict...)
		}
	}
	var faults field.ErrorList
	if faults = amiselect.ValidateTerms(path, r.Terms); len(faults) == 0 {
		r.Family, faults = amiselect.ResolveFamily(field.NewPath("spec"), class.Spec.AMIFamily, r.Terms)
	}
	return joined(faults)
}

// joined returns the faults as one error, a line for each.
func joined(faults field.ErrorList) error {
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

func (r *reader) pool(doc v1.Document) error {
	pool := &v1.NodePool{}
	if err := doc.Into(v1.GroupVersion.WithKind(v1.NodePoolKind), pool); err != nil {
		return err
	}
	pool.Default()
	if err := joined(pool.ValidateWith(catalog.NodePoolRules())); err != nil {
		return err
	}
	if _, twice := r.Pools[pool.Name]; twice {
		return errors.New("metadata.name: stands twice in the file; remove one")
	}
	compiled, err := budgets.Compile(pool.Spec.Disruption.Budgets, nil)
	r.Pools[pool.Name] = compiled
	return err
}

// claims reads the nodes. It checks that their pools exist only if the pools are known.
func (r *reader) claims(f file, known bool) {
	docs, _ := r.documents(f)
	claims := 0
	for _, doc := range docs {
		if doc.GroupVersionKind().Kind != v1.NodeClaimKind {
			continue
		}
		claims++
		r.add(f.name, "NodeClaim "+doc.Name(), r.claim(doc, known))
	}
	if claims == 0 && len(docs) > 0 {
		r.add(f.name, "", fmt.Errorf(`holds no %s; give what "kubectl get nodeclaims -o yaml" prints`, v1.NodeClaimKind))
	}
	slices.SortFunc(r.Nodes, func(a, b amiselect.Node) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(r.Nodes); i++ {
		if r.Nodes[i].Name == r.Nodes[i-1].Name {
			r.add(f.name, "NodeClaim "+r.Nodes[i].Name, errors.New("stands twice in the file; remove one"))
		}
	}
}

func (r *reader) claim(doc v1.Document, known bool) error {
	claim := &v1.NodeClaim{}
	if err := doc.Into(v1.GroupVersion.WithKind(v1.NodeClaimKind), claim); err != nil {
		return err
	}
	pool, typeName := claim.Labels[v1.NodePoolLabelKey], claim.Labels["node.kubernetes.io/instance-type"]
	// A percentage is of all nodes of a pool, whatever their class.
	r.Counts[pool] = budgets.Counts{Nodes: r.Counts[pool].Nodes + 1}
	if ref := claim.Spec.NodeClassRef; ref != nil && known && ref.Name != r.Class {
		r.Others++
		return nil
	}
	var errs []error
	if _, ok := r.Pools[pool]; !ok && known {
		errs = append(errs, fmt.Errorf("metadata.labels[%s]: NodePool %q is not in the manifest", v1.NodePoolLabelKey, pool))
	}
	t, ok := r.types[typeName]
	if !ok {
		errs = append(errs, fmt.Errorf("metadata.labels[node.kubernetes.io/instance-type]: %q is not an instance type of the catalog", typeName))
	}
	r.Nodes = append(r.Nodes, amiselect.Node{Name: claim.Name, NodePool: pool, ImageID: claim.Status.ImageID,
		InstanceType: t, Created: claim.CreationTimestamp.Time})
	return errors.Join(errs...)
}
