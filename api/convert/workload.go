package convert

import (
	"slices"

	"go.yaml.in/yaml/v3"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// podPlaces are where objects have pods or patterns of pods: a Pod, a
// PodTemplate, what has a template such as a Deployment, a CronJob.
func podPlaces() [][]string {
	return [][]string{
		{},
		{"template"},
		{"spec", "template"},
		{"spec", "jobTemplate", "spec", "template"},
	}
}

// podPlace is where an object of a kind of Kubernetes has its pod, and false for
// other kinds.
func podPlace(o *object) ([]string, bool) {
	switch (typeMeta{o.group(), o.kind}) {
	case typeMeta{"", "Pod"}:
		return []string{}, true
	case typeMeta{"", "PodTemplate"}:
		return []string{"template"}, true
	case typeMeta{"", "ReplicationController"}, typeMeta{"apps", "Deployment"}, typeMeta{"apps", "StatefulSet"},
		typeMeta{"apps", "DaemonSet"}, typeMeta{"apps", "ReplicaSet"}, typeMeta{"batch", "Job"}:
		return []string{"spec", "template"}, true
	case typeMeta{"batch", "CronJob"}:
		return []string{"spec", "jobTemplate", "spec", "template"}, true
	}
	return nil, false
}

// workload converts the pods of an object, and reports whether it has any. It
// looks for containers and not at the kind, as there are many kinds. Only of
// those of Kubernetes itself it takes pods without: patches, as for kustomize,
// have just what they change.
func (c *converter) workload(o *object) bool {
	found := false
	own, known := podPlace(o)
	for _, keys := range podPlaces() {
		pod, path := at(o.root, keys...), ""
		for _, key := range keys {
			path = join(path, key)
		}
		isPod := known && slices.Equal(keys, own) || find(at(pod, "spec"), "containers").key != nil
		if !isMap(pod) || !isPod {
			continue
		}
		found = true
		if path != "" {
			path += "."
		}
		c.rename(o, at(pod, "metadata", "annotations"), path+"metadata.annotations", renamedAnnotations())
		c.podSpec(o, path+"spec", at(pod, "spec"))
	}
	return found
}

// podSpec converts what a pod says of nodes.
func (c *converter) podSpec(o *object, path string, spec *yaml.Node) {
	c.rename(o, at(spec, "nodeSelector"), join(path, "nodeSelector"), renamedLabels())
	node := at(spec, "affinity", "nodeAffinity")
	where := path + ".affinity.nodeAffinity"
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	for i, t := range items(at(node, required, "nodeSelectorTerms")) {
		c.nodeTerm(o, index(where+"."+required+".nodeSelectorTerms", i), t)
	}
	for i, t := range items(at(node, preferred)) {
		c.nodeTerm(o, index(where+"."+preferred, i)+".preference", at(t, "preference"))
	}
	for i, s := range items(at(spec, "topologySpreadConstraints")) {
		c.topologyKey(o, index(path+".topologySpreadConstraints", i), s)
	}
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		where := path + ".affinity." + kind
		for i, t := range items(at(spec, "affinity", kind, required)) {
			c.topologyKey(o, index(where+"."+required, i), t)
		}
		for i, t := range items(at(spec, "affinity", kind, preferred)) {
			c.topologyKey(o, index(where+"."+preferred, i)+".podAffinityTerm", at(t, "podAffinityTerm"))
		}
	}
	for i, t := range items(at(spec, "tolerations")) {
		c.toleration(o, index(path+".tolerations", i), t)
	}
}

// nodeTerm converts a term of node affinity.
func (c *converter) nodeTerm(o *object, path string, t *yaml.Node) {
	for i, e := range items(at(t, "matchExpressions")) {
		key := at(e, "key")
		if textOf(key) != oldPoolLabel {
			continue
		}
		key.Value = karpv1.NodePoolLabelKey
		o.doc.changed = true
		severity, but := Info, ""
		switch textOf(at(e, "operator")) {
		case "DoesNotExist", "NotIn":
			severity = Warning
			but = "; as long as there are nodes with the old label, add the same expression for " + oldPoolLabel
		}
		c.remark(o, severity, index(path+".matchExpressions", i)+".key", key, "is %s now%s", karpv1.NodePoolLabelKey, but)
	}
}

// topologyKey converts the key of a spread or affinity between pods.
func (c *converter) topologyKey(o *object, path string, t *yaml.Node) {
	if key := at(t, "topologyKey"); textOf(key) == oldPoolLabel {
		key.Value = karpv1.NodePoolLabelKey
		o.doc.changed = true
		c.remark(o, Info, path+".topologyKey", key, "is %s now", karpv1.NodePoolLabelKey)
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
