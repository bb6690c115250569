package offline

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// EKS Auto Mode launches EC2 instances. The labels of its instance types have the same names as
// Karpenter's, but in a domain of its own.
const (
	autoGroup       = "eks.amazonaws.com"
	autoComputeType = autoGroup + "/compute-type"
	autoNodeClass   = autoGroup + "/nodeclass"
	instancePrefix  = "/instance-"
)

// cloudDomains are the domains of labels that only a cloud sets on nodes. A requirement on such a
// label restricts instance types.
var cloudDomains = []string{"azure.com", "cloud.google.com", "gke.io", "k8s.gcp", "alibabacloud.com", "k8s.alibabacloud", "oraclecloud.com"}

// ofAutoMode reports whether EKS Auto Mode launches the nodes of a pool.
func ofAutoMode(pool *v1.NodePool) bool {
	ref := pool.Spec.Template.Spec.NodeClassRef
	return ref != nil && ref.Group == autoGroup
}

// foreign says why the instance types of EC2 are wrong for a pool. It returns "" if they are right,
// and if the instance types were read from a file.
func (w *World) foreign(pool *v1.NodePool) string {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if w.given || ref == nil {
		return ""
	}
	if ref.Group != awsv1.Group && ref.Group != autoGroup {
		return fmt.Sprintf("its nodeClassRef names the %s %s of %s, and the instance types known here are those of EC2", ref.Kind, ref.Name, ref.Group)
	}
	for _, r := range pool.Spec.Template.Spec.Requirements {
		domain, _, _ := strings.Cut(r.Key, "/")
		within := func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) }
		if slices.ContainsFunc(cloudDomains, within) || ofAutoMode(pool) && within(autoGroup) && !slices.Contains(autoLabels(), r.Key) {
			return fmt.Sprintf("it requires something of the label %s, which no instance type known here has", r.Key)
		}
	}
	return ""
}

// noteProviders adds notes on pools that launch nothing, and on costs of the other pools that are
// not counted.
func (w *World) noteProviders() {
	for _, pool := range w.Cluster.NodePools {
		switch why := w.foreign(pool); {
		case why != "":
			w.note("NodePool %s launches nothing: %s; name a file of the instance types of its cloud with -instance-types", pool.Name, why)
		case ofAutoMode(pool) && !w.given:
			w.note("NodePool %s is of EKS Auto Mode: prices are those of EC2, without the fee of Auto Mode", pool.Name)
		}
	}
}

// autoLabels returns the labels that Auto Mode gives to nodes, sorted.
func autoLabels() []string {
	labels := []string{autoComputeType, autoNodeClass}
	for _, key := range catalog.WellKnownLabels() {
		if to, ok := autoLabel(key); ok {
			labels = append(labels, to)
		}
	}
	slices.Sort(labels)
	return labels
}

// autoLabel returns the name in Auto Mode of a label of Karpenter's instance types.
func autoLabel(key string) (string, bool) {
	rest, ok := strings.CutPrefix(key, awsv1.Group+instancePrefix)
	return autoGroup + instancePrefix + rest, ok
}

// vocabulary returns the vocabulary of the fake cloud, with the labels of Auto Mode if any pool
// uses it.
func (w *World) vocabulary() *requirements.Vocabulary {
	if w.given || !w.auto {
		return fake.Vocabulary()
	}
	return fake.Vocabulary().Extend(requirements.Extension{WellKnown: autoLabels()})
}

// labelledFor returns the instance types of a pool with the labels that its nodes get. Auto Mode
// launches types with more than one vCPU that are not nano, micro or small. If no pool uses Auto Mode
// the types are unchanged.
func (w *World) labelledFor(pool *v1.NodePool, types []*cloudprovider.InstanceType) (out []*cloudprovider.InstanceType) {
	if w.given || !w.auto {
		return types
	}
	var none []requirements.Requirement
	for _, key := range autoLabels() {
		none = append(none, requirements.DoesNotExist(key))
	}
	for _, it := range types {
		changed, l := *it, label{it}
		switch {
		case !ofAutoMode(pool):
			changed.Requirements = it.Requirements.With(none...)
		case l.number(awsv1.LabelInstanceCPU) > 1 && !slices.Contains([]string{"nano", "micro", "small"}, l.text(awsv1.LabelInstanceSize)):
			changed.Requirements = autoRequirements(it.Requirements).With(requirements.In(autoComputeType, "auto"),
				requirements.In(autoNodeClass, pool.Spec.Template.Spec.NodeClassRef.Name))
		default:
			continue
		}
		out = append(out, &changed)
	}
	return out
}

// autoRequirements returns the requirements of an instance type with the label names of Auto Mode.
func autoRequirements(of requirements.Set) requirements.Set {
	var renamed []requirements.Requirement
	for r := range of.All() {
		to, ok := autoLabel(r.Key())
		if !ok {
			renamed = append(renamed, r)
			continue
		}
		renamed = append(renamed, requirements.DoesNotExist(r.Key()))
		if values, finite := r.Values(); finite && len(values) > 0 {
			renamed = append(renamed, requirements.In(to, values...))
		} else {
			renamed = append(renamed, requirements.DoesNotExist(to))
		}
	}
	return requirements.NewSet(renamed...)
}
