package convert

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// Keys of labels, annotations and taints that are no more.
const (
	oldPoolLabel       = karpv1.Group + "/provisioner-name"
	oldDoNotEvict      = karpv1.Group + "/do-not-evict"
	oldDoNotMerge      = karpv1.Group + "/do-not-consolidate"
	oldPoolHash        = karpv1.Group + "/provisioner-hash"
	oldClassHash       = awsv1.Group + "/nodetemplate-hash"
	oldDisruptionTaint = karpv1.Group + "/disruption"
	oldManagedBy       = karpv1.Group + "/managed-by"
	oldAMILabel        = awsv1.Group + "/instance-ami-id"
	oldPodsLabel       = awsv1.Group + "/instance-pods"

	kubeletAnnotation = "compatibility." + karpv1.Group + "/v1beta1-kubelet-conversion"
	classAnnotation   = "compatibility." + karpv1.Group + "/v1beta1-nodeclass-reference"
	aliasAnnotation   = "compatibility." + awsv1.Group + "/v1-alias-version"

	lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
)

// renamed is a key that has another name now.
type renamed struct {
	from, to string
	severity Severity
	why      string // follows "is TO now"
}

// renamedLabels are labels of nodes.
func renamedLabels() []renamed {
	return []renamed{{oldPoolLabel, karpv1.NodePoolLabelKey, Info, ""}}
}

// renamedAnnotations are annotations of pods, nodes, claims and pools.
func renamedAnnotations() []renamed {
	return []renamed{
		{oldDoNotEvict, karpv1.DoNotDisruptAnnotationKey, Info,
			"; an expired node begins to drain all the same, and waits for the pod unless it has a terminationGracePeriod"},
		{oldDoNotMerge, karpv1.DoNotDisruptAnnotationKey, Warning,
			", which keeps replacement for drift away as well and not consolidation alone"},
		{oldPoolHash, karpv1.NodePoolHashAnnotationKey, Info, "; the controller computes it anew"},
		{oldClassHash, awsv1.EC2NodeClassHashAnnotationKey, Info, "; the controller computes it anew"},
	}
}

// rename gives keys of a mapping their names of today. Where the new key is
// there already the old is removed.
func (c *converter) rename(o *object, m *yaml.Node, path string, keys []renamed) {
	for _, r := range keys {
		old := find(m, r.from)
		if old.key == nil {
			continue
		}
		o.doc.changed = true
		where := join(path, r.from)
		if newer := find(m, r.to); newer.key != nil {
			take(m, r.from)
			severity, but := Info, ""
			if !same(old.value, newer.value) {
				severity, but = Warning, ", which has another value and wins"
			}
			c.remark(o, severity, where, old.key, "is removed beside %s%s", r.to, but)
			continue
		}
		old.key.Value = r.to
		c.remark(o, r.severity, where, old.key, "is %s now%s", r.to, r.why)
	}
}

// metadata converts the metadata of an object of Karpenter's kinds.
func (c *converter) metadata(o *object) {
	meta := at(o.root, "metadata")
	c.rename(o, at(meta, "labels"), "metadata.labels", renamedLabels())
	c.rename(o, at(meta, "annotations"), "metadata.annotations", renamedAnnotations())
	c.owners(o)
}

// newIdentity takes from the metadata what the API server gave to an object whose
// kind has another name now: the new object is another to it.
func (c *converter) newIdentity(o *object) {
	meta := at(o.root, "metadata")
	var gone []string
	for _, key := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "selfLink", "managedFields", "ownerReferences"} {
		if take(meta, key).key != nil {
			gone = append(gone, key)
		}
	}
	if takeAnnotation(o, lastAppliedAnnotation).key != nil {
		gone = append(gone, lastAppliedAnnotation)
	}
	if len(gone) > 0 {
		c.remark(o, Info, "metadata", meta, "%s removed: they were given to the old object, and this is a new one to the API server",
			strings.Join(gone, ", "))
	}
}

// takeAnnotation removes an annotation, and the annotations with the last of them. It
// returns what it was, or the zero pair.
func takeAnnotation(o *object, key string) pair {
	meta := at(o.root, "metadata")
	annotations := at(meta, "annotations")
	old := take(annotations, key)
	if old.key != nil && empty(annotations) {
		take(meta, "annotations")
	}
	return old
}

// drop removes fields that are no more, with a remark on each.
func (c *converter) drop(o *object, m *yaml.Node, path string, severity Severity, why string, keys ...string) {
	for _, key := range keys {
		if gone := take(m, key); gone.key != nil {
			c.remark(o, severity, join(path, key), gone.key, "removed: %s", why)
		}
	}
}

// owners updates the version in references to objects that keep kind and UID.
func (c *converter) owners(o *object) {
	visit(o.root, "", "metadata.ownerReferences[]", func(path string, ref *yaml.Node) {
		version := at(ref, "apiVersion")
		if to, ok := successor(textOf(version), textOf(at(ref, "kind"))); ok && to.kind == textOf(at(ref, "kind")) {
			version.Value = to.apiVersion
			o.doc.changed = true
			c.remark(o, Info, join(path, "apiVersion"), version, "is %s now", to.apiVersion)
		}
	})
}

// node converts a Node.
func (c *converter) node(o *object) {
	c.metadata(o)
	visit(o.root, "", "spec.taints[]", func(path string, taint *yaml.Node) {
		if key := at(taint, "key"); textOf(key) == oldDisruptionTaint {
			key.Value = karpv1.DisruptedTaintKey
			take(taint, "value")
			o.doc.changed = true
			c.remark(o, Info, path, key, "is %s without a value now", karpv1.DisruptedTaintKey)
		}
	})
}

// keepStatus leaves in the status the fields that are still there and drops
// conditions, which the controller finds out anew.
func (c *converter) keepStatus(o *object, keep ...string) {
	status := at(o.root, "status")
	if status == nil {
		return
	}
	kept := newMap()
	var gone []string
	for _, p := range pairs(status) {
		if slices.Contains(keep, p.key.Value) {
			put(kept, p)
		} else {
			gone = append(gone, p.key.Value)
		}
	}
	if len(gone) > 0 {
		c.remark(o, Info, "status", status, "%s removed: the controller observes it anew", strings.Join(gone, ", "))
	}
	if isMap(status) {
		status.Content = kept.Content
	}
	if empty(status) {
		take(o.root, "status")
	}
}

// conditions takes out of conditions what v1 does not have.
func (c *converter) conditions(o *object) {
	visit(o.root, "", "status.conditions[]", func(path string, condition *yaml.Node) {
		c.drop(o, condition, path, Info, "conditions have no severity any more", "severity")
		kind := at(condition, "type")
		if text, old := strings.CutPrefix(textOf(kind), kindMachine); old && text != "" {
			c.remark(o, Info, join(path, "type"), kind, "is %s now", text)
			kind.Value = text
		}
	})
}
