package offline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const classKind = awsv1.EC2NodeClassKind

// kubeletOf is what an EC2NodeClass says of the kubelets of its nodes.
type kubeletOf struct {
	name     string
	features bootstrap.Features
	config   kubelet.Config
	maxPods  *int32
	perCore  int64
}

// readClasses finds the classes, and notes by name what comes of each that has a
// spec.kubelet. A class that cannot be read is no fault, as all else of its spec has no
// say, and neither is one of another version beside it.
func (w *World) readClasses(sources []manifest.Source, typesFile string) (all []*awsv1.EC2NodeClass) {
	var older []v1.Document
	for _, source := range sources {
		docs, _ := v1.Documents(source.Data) // what cannot be parsed is a fault of the manifests
		for _, doc := range docs {
			switch kind := doc.GroupVersionKind(); {
			case kind.Group != awsv1.Group || kind.Kind != classKind:
				continue
			case kind.Version != awsv1.GroupVersion.Version:
				older = append(older, doc)
				continue
			}
			class, err := awsv1.DecodeEC2NodeClass(doc.JSON())
			if err != nil {
				w.note("EC2NodeClass %s: it has no say: %s", doc.Name(), oneLine(err))
				continue
			}
			if class.Spec.Kubelet != nil {
				w.readClass(class, typesFile)
			}
			all = append(all, class)
		}
	}
	w.noteOlder(older, all)
	return all
}

// noteOlder says what becomes of classes of versions that are not read.
func (w *World) noteOlder(older []v1.Document, read []*awsv1.EC2NodeClass) {
	beside := map[string]int{}
	for _, doc := range older {
		if slices.ContainsFunc(read, func(c *awsv1.EC2NodeClass) bool { return c.Name == doc.Name() }) {
			w.older++
			beside[doc.GroupVersionKind().GroupVersion().String()]++
		} else {
			w.note("EC2NodeClass %s: it has no say, as it is of %s; convert it to %s with examples/migrate",
				doc.Name(), doc.GroupVersionKind().GroupVersion(), awsv1.GroupVersion)
		}
	}
	for version, n := range beside { // the notes are sorted
		w.note("%d EC2NodeClass of %s not read: there in the version that is", n, version)
	}
}

func (w *World) note(format string, args ...any) {
	w.Cluster.Notes = append(w.Cluster.Notes, fmt.Sprintf(format, args...))
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func (w *World) readClass(class *awsv1.EC2NodeClass, typesFile string) {
	k, err := newKubelet(class)
	switch {
	case err != nil:
		w.note("EC2NodeClass %s: spec.kubelet has no say: %s", class.Name, oneLine(err))
	case typesFile != "":
		w.note("EC2NodeClass %s: spec.kubelet has no say; the instance types are taken as %s has them", class.Name, typesFile)
	default:
		w.classes[class.Name] = k
		w.note("EC2NodeClass %s: of its spec only kubelet has a say", class.Name)
	}
}

// newKubelet reads a class. The error lists every setting that is wrong; what else
// is wrong with the class, such as a role to be filled in, is not asked.
func newKubelet(class *awsv1.EC2NodeClass) (*kubeletOf, error) {
	var faults []error
	for _, fault := range append(class.Validate(), class.ValidateExpressions(nil)...) {
		if strings.HasPrefix(fault.Field, "spec.kubelet") {
			faults = append(faults, fault)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	spec := class.Spec.Kubelet
	k := &kubeletOf{name: class.Name, features: bootstrap.FeaturesOf(class.ResolvedAMIFamily())}
	if spec.MaxPods != nil {
		k.maxPods = &spec.MaxPods.IntVal
	}
	if spec.PodsPerCore != nil && k.features.PodsPerCore {
		k.perCore = int64(*spec.PodsPerCore)
	}
	var errs [3]error
	k.config.KubeReserved, errs[0] = kubelet.ParseReserved("kubeReserved", spec.KubeReserved)
	k.config.SystemReserved, errs[1] = kubelet.ParseReserved("systemReserved", spec.SystemReserved)
	k.config.EvictionHard, errs[2] = kubelet.ParseThresholds(spec.EvictionHard)
	return k, errors.Join(errs[:]...)
}

// class is that of a pool if it has a say.
func (w *World) class(pool *v1.NodePool) *kubeletOf {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if ref == nil || ref.Kind != classKind || ref.Group != awsv1.Group {
		return nil
	}
	return w.classes[ref.Name]
}

// apply returns the types as nodes of the class have them: the number of pods by
// maxPods and podsPerCore, and the reserves and thresholds of the class in place of
// those of EKS, name by name. Amazon Linux reserves memory for as many pods as there
// are addresses, whatever their number is set to.
func (k *kubeletOf) apply(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	out := make([]*cloudprovider.InstanceType, len(types))
	for i, t := range types {
		changed := *t
		addresses := t.Capacity.Get(corev1.ResourcePods)
		pods := addresses
		if k.maxPods != nil {
			pods = int64(*k.maxPods)
		}
		pods = kubelet.PodsPerCore(pods, k.perCore, t.Capacity.Get(corev1.ResourceCPU))
		capacity := maps.Collect(t.Capacity.All())
		capacity[corev1.ResourcePods] = pods
		changed.Capacity = resources.New(capacity)
		config := k.config
		if k.features.ENILimitedMemoryOverhead {
			config.ReservedPods = addresses
		}
		changed.Overhead = kubelet.EKS().Overhead(changed.Capacity, &config)
		out[i] = &changed
	}
	return out
}
