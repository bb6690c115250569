package convert

import (
	"slices"

	"go.yaml.in/yaml/v3"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// podKinds are where objects have pods or patterns of pods, and of which kinds of
// Kubernetes that is known: a Pod, a PodTemplate, what has a template such as a
// Deployment, a CronJob.
func podKinds() []podKind {
	return []podKind{
		{"", []typeMeta{{"", "Pod"}}},
		{"template", []typeMeta{{"", "PodTemplate"}}},
		{"spec.template", []typeMeta{{"", "ReplicationController"}, {"apps", "Deployment"}, {"apps", "StatefulSet"},
			{"apps", "DaemonSet"}, {"apps", "ReplicaSet"}, {"batch", "Job"}}},
		{"spec.jobTemplate.spec.template", []typeMeta{{"batch", "CronJob"}}},
	}
}

// podKind is a path, and the kinds by group that have a pod there.
type podKind struct {
	path  string
	kinds []typeMeta
}

// workload converts the pods of an object, and reports whether it has any. It
// looks for containers and not at the kind, as there are many kinds. Only of
// those of Kubernetes itself it takes pods without: patches, as for kustomize,
// have just what they change.
func (c *converter) workload(o *object) bool {
	found := false
	convert := func(known bool) func(string, *yaml.Node) {
		return func(path string, pod *yaml.Node) {
			if isMap(pod) && (known || find(at(pod, "spec"), "containers").key != nil) {
				found = true
				c.rename(o, at(pod, "metadata", "annotations"), join(path, "metadata")+".annotations", renamedAnnotations())
				c.podSpec(o, join(path, "spec"), at(pod, "spec"))
			}
		}
	}
	for _, place := range podKinds() {
		known := slices.Contains(place.kinds, typeMeta{o.group(), o.kind})
		if place.path == "" {
			convert(known)("", o.root)
		} else {
			visit(o.root, "", place.path, convert(known))
		}
	}
	return found
}

// podSpec converts what a pod says of nodes.
func (c *converter) podSpec(o *object, path string, spec *yaml.Node) {
	c.rename(o, at(spec, "nodeSelector"), join(path, "nodeSelector"), renamedLabels())
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	for _, place := range []struct {
		pattern string
		convert func(c *converter, o *object, path string, n *yaml.Node)
	}{
		{"affinity.nodeAffinity." + required + ".nodeSelectorTerms[].matchExpressions[]", (*converter).expression},
		{"affinity.nodeAffinity." + preferred + "[].preference.matchExpressions[]", (*converter).expression},
		{"topologySpreadConstraints[].topologyKey", (*converter).topologyKey},
		{"affinity.podAffinity." + required + "[].topologyKey", (*converter).topologyKey},
		{"affinity.podAffinity." + preferred + "[].podAffinityTerm.topologyKey", (*converter).topologyKey},
		{"affinity.podAntiAffinity." + required + "[].topologyKey", (*converter).topologyKey},
		{"affinity.podAntiAffinity." + preferred + "[].podAffinityTerm.topologyKey", (*converter).topologyKey},
		{"tolerations[]", (*converter).toleration},
	} {
		visit(spec, path, place.pattern, func(path string, n *yaml.Node) { place.convert(c, o, path, n) })
	}
}

// expression converts one of node affinity.
func (c *converter) expression(o *object, path string, e *yaml.Node) {
	key := at(e, "key")
	if textOf(key) != oldPoolLabel {
		return
	}
	severity, but := Info, ""
	if operator := textOf(at(e, "operator")); operator == "DoesNotExist" || operator == "NotIn" {
		severity = Warning
		but = "; as long as there are nodes with the old label, add the same expression for " + oldPoolLabel
	}
	key.Value = karpv1.NodePoolLabelKey
	o.doc.changed = true
	c.remark(o, severity, join(path, "key"), key, "is %s now%s", karpv1.NodePoolLabelKey, but)
}

// topologyKey converts the key of a spread or affinity between pods.
func (c *converter) topologyKey(o *object, path string, key *yaml.Node) {
	if textOf(key) == oldPoolLabel {
		key.Value = karpv1.NodePoolLabelKey
		o.doc.changed = true
		c.remark(o, Info, path, key, "is %s now", karpv1.NodePoolLabelKey)
	}
}

// toleration converts a toleration of the taint of nodes on their way out, which
// has no value any more.
func (c *converter) toleration(o *object, path string, t *yaml.Node) {
	key := at(t, "key")
	if textOf(key) != oldDisruptionTaint {
		return
	}
	key.Value = karpv1.DisruptedTaintKey
	take(t, "value")
	if operator := find(t, "operator"); operator.key == nil {
		put(t, entry("operator", newText("Exists")))
	} else {
		operator.value.Value, operator.value.Tag = "Exists", tagText
	}
	o.doc.changed = true
	c.remark(o, Info, path, key, "tolerates %s, which has no value, now", karpv1.DisruptedTaintKey)
}
