package convert

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// moveKubelets gives the kubelet settings of pools to their EC2NodeClasses. A
// class serves the pools that agree; for others there are copies of it.
func (c *converter) moveKubelets() {
	c.classByName = map[string][]*object{}
	for _, o := range c.classes {
		if o.spec() != nil {
			c.classByName[o.name] = append(c.classByName[o.name], o)
		}
	}
	for _, pool := range c.pools {
		if kubelet, ok := c.kubeletOf(pool); ok {
			c.tidyKubelet(pool, kubelet)
		}
	}
	var names []string
	members := map[string][]*object{}
	for _, pool := range c.pools {
		if name, ok := c.classOf(pool); ok {
			if members[name] == nil {
				names = append(names, name)
			}
			members[name] = append(members[name], pool)
		}
	}
	for _, name := range names {
		c.share(c.classByName[name][0], members[name])
	}
	for _, pool := range c.pools {
		if kubelet, ok := c.kubeletOf(pool); ok {
			c.askForKubelet(pool, kubelet)
		} else if kubelet.key != nil {
			c.dropStored(pool)
		}
	}
}

// kubeletOf are the settings that are to be moved away from a pool.
func (c *converter) kubeletOf(pool *object) (pair, bool) {
	kubelet := c.kubelets[pool]
	return kubelet, !empty(kubelet.value)
}

// classOf is the name of the EC2NodeClass of a pool, if it is among the sources.
func (c *converter) classOf(pool *object) (string, bool) {
	ref := at(pool.root, "spec", "template", "spec", "nodeClassRef")
	name := pool.text(at(ref, "name"))
	if textOf(at(ref, "group")) != awsv1.Group || textOf(at(ref, "kind")) != awsv1.EC2NodeClassKind || name == "" {
		return "", false
	}
	return name, len(c.classByName[name]) > 0
}

// share settles the kubelet settings of all pools of one class.
func (c *converter) share(original *object, members []*object) {
	// The class keeps the settings it has, and has none if a pool relies on that.
	owner := map[string]*object{}
	own := at(original.spec(), "kubelet")
	taken := !empty(own)
	for _, pool := range members {
		if _, ok := c.kubeletOf(pool); !ok {
			taken = true
		}
	}
	if taken {
		owner[canonical(original, own)] = original
	}
	for _, pool := range members {
		kubelet, ok := c.kubeletOf(pool)
		if !ok {
			continue
		}
		key := canonical(pool, kubelet.value)
		class, found := owner[key]
		switch {
		case found:
		case !taken:
			class, taken = original, true
			c.giveKubelet(pool, kubelet, class)
		default:
			class = c.cloneClass(pool, kubelet, original)
		}
		owner[key] = class
		c.settleKubelet(pool, kubelet, class)
	}
}

// giveKubelet puts the settings into a class, and into others of its name, of
// which it is not known which one is meant.
func (c *converter) giveKubelet(pool *object, kubelet pair, class *object) {
	for _, twin := range c.classByName[class.name] {
		take(twin.spec(), "kubelet")
		value := pool.moved(kubelet.value, twin.doc)
		k := *pool.moved(kubelet.key, twin.doc)
		k.Value = "kubelet"
		put(twin.spec(), pair{&k, value})
		twin.converted, twin.doc.changed = true, true
	}
}

// cloneClass makes a copy of a class with the settings of a pool.
func (c *converter) cloneClass(pool *object, kubelet pair, original *object) *object {
	name := c.freeClassName(original.name + "-" + pool.name)
	root := copyNode(original.root)
	each(root, func(n *yaml.Node) { n.Line, n.Column = 0, 0 })
	// The copy is written out without the first comment, which often is about
	// the file, and without what the API server gave to the original.
	root.HeadComment = ""
	if len(root.Content) > 0 {
		root.Content[0].HeadComment = ""
	}
	meta := newMap(entry("name", newText(name)))
	for _, key := range []string{"labels", "annotations", "finalizers"} {
		if p := find(at(original.root, "metadata"), key); p.key != nil {
			put(meta, pair{copyNode(p.key), copyNode(p.value)})
		}
	}
	within(root, "metadata").Content = meta.Content
	take(root, "status")
	clone := c.addAfter(original, root, name)
	take(clone.spec(), "kubelet")
	put(clone.spec(), entry("kubelet", pool.moved(kubelet.value, clone.doc)))
	c.classes = append(c.classes, clone)
	c.classByName[name] = []*object{clone}
	return clone
}

// settleKubelet points the pool at the class that has its settings.
func (c *converter) settleKubelet(pool *object, kubelet pair, class *object) {
	delete(c.kubelets, pool)
	takeAnnotation(pool, kubeletAnnotation) // of Karpenter 1.0
	pool.converted, pool.doc.changed = true, true
	field, where := kubeletField(pool), kubelet.key
	ref := at(pool.root, "spec", "template", "spec", "nodeClassRef", "name")
	if was := pool.text(ref); was != class.name {
		c.remark(pool, Warning, field, where,
			"is spec.kubelet of EC2NodeClass %s now, a copy of %s that was made because other pools of %s have other settings; the reference of the pool follows, which replaces its nodes",
			class.name, was, was)
		ref.Value, ref.Tag, ref.Style = class.name, tagText, 0
		return
	}
	c.remark(pool, Warning, field, where,
		"is spec.kubelet of EC2NodeClass %s now, and so holds for every pool of that class, also those that are not among the sources", class.name)
}

// askForKubelet says which settings are to be written into a class that is not among the
// sources. The annotation in which Karpenter 1.0 kept them is no place: with it in a
// NodePool Karpenter 1.1 to 1.5 do not start.
func (c *converter) askForKubelet(pool *object, kubelet pair) {
	takeAnnotation(pool, kubeletAnnotation)
	pool.converted, pool.doc.changed = true, true
	text, err := jsonOf(kubelet.value)
	if err != nil {
		text = "the settings that are here"
	}
	name := pool.text(at(pool.root, "spec", "template", "spec", "nodeClassRef", "name"))
	c.remark(pool, Action, kubeletField(pool), kubelet.key,
		"removed: write %s into spec.kubelet of the node class %s, which is not among the sources; or convert both together", text, name)
}

// dropStored removes the annotation of a pool without settings.
func (c *converter) dropStored(pool *object) {
	if gone := takeAnnotation(pool, kubeletAnnotation); gone.key != nil {
		pool.converted, pool.doc.changed = true, true
		c.remark(pool, Info, join("metadata.annotations", kubeletAnnotation), gone.key, "removed: there is nothing in it")
	}
}

// kubeletField is where the settings of a pool stood.
func kubeletField(pool *object) string {
	switch {
	case pool.kind == kindProvisioner:
		return "spec.kubeletConfiguration"
	case pool.apiVersion == coreBeta:
		return "spec.template.spec.kubelet"
	}
	return join("metadata.annotations", kubeletAnnotation)
}

// tidyKubelet gives settings the form of v1.
func (c *converter) tidyKubelet(pool *object, kubelet pair) {
	field := kubeletField(pool)
	if runtime := take(kubelet.value, "containerRuntime"); runtime.key != nil {
		severity := Info
		if textOf(runtime.value) != "containerd" {
			severity = Warning
		}
		c.remark(pool, severity, join(field, "containerRuntime"), runtime.key, "removed: the runtime is containerd, always")
	}
	for _, key := range []string{"systemReserved", "kubeReserved", "evictionHard", "evictionSoft"} {
		for _, p := range pairs(at(kubelet.value, key)) {
			if p.value.Kind == yaml.ScalarNode && !isNull(p.value) && p.value.ShortTag() != tagText {
				p.value.Tag, p.value.Style = tagText, yaml.DoubleQuotedStyle
			}
		}
	}
}

// canonical is a text that is the same for settings that are the same.
func canonical(o *object, n *yaml.Node) string {
	if empty(n) {
		return ""
	}
	text, err := jsonOf(n)
	if err != nil {
		return ""
	}
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return o.doc.words.show(string(sorted))
}
