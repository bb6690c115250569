package convert

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// pool is a NodePool among the sources, converted or of v1 already.
type pool struct {
	from    *object
	now     *karpv1.NodePool
	kubelet *awsv1.KubeletConfiguration // to be moved to the class; nil if there is none
	field   string                      // where kubelet was
}

// newPool makes the NodePool that an object becomes, with the kubelet section that it had.
func (c *converter) newPool(o *object, meta metav1.ObjectMeta, section string, kubelet *oldKubelet) *karpv1.NodePool {
	p := &pool{from: o, now: &karpv1.NodePool{ObjectMeta: meta}}
	p.now.SetGroupVersionKind(karpv1.GroupVersion.WithKind(karpv1.NodePoolKind))
	o.now = []runtime.Object{p.now}
	c.pools = append(c.pools, p)
	if p.takeStored(); kubelet == nil {
		return p.now
	}
	if kubelet.ContainerRuntime != "" {
		o.note(Warning, section+".containerRuntime", "removed: the runtime is always containerd")
		kubelet.ContainerRuntime = ""
	}
	now := &awsv1.KubeletConfiguration{}
	if recode(kubelet, now); string(encoded(now)) != "{}" {
		p.kubelet, p.field = now, section
	}
	return p.now
}

// takeStored takes the kubelet settings that Karpenter 1.0 stored in an annotation of a NodePool. It removes
// the annotation, with which Karpenter 1.1 to 1.5 do not start, and reports whether there was one.
func (p *pool) takeStored() bool {
	text, ok := p.now.Annotations[kubeletAnnotation]
	if !ok {
		return false
	}
	delete(p.now.Annotations, kubeletAnnotation)
	now, path := &awsv1.KubeletConfiguration{}, "metadata.annotations["+kubeletAnnotation+"]"
	if err := json.Unmarshal([]byte(text), now); err != nil || string(encoded(now)) == "{}" {
		p.from.note(Action, path, "removed: it has no kubelet settings that can be read; write what is meant by %s into spec.kubelet of the EC2NodeClass", text)
	} else {
		p.kubelet, p.field = now, path
	}
	return true
}

const kubeletAnnotation = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"

// current reads an object that is v1 already: a class may get settings of pools, and a pool may
// have stored settings.
func (c *converter) current(o *object) {
	if now, err := awsv1.DecodeEC2NodeClass(o.doc.JSON()); err == nil {
		c.classes = append(c.classes, &class{o, now})
	}
	p := &pool{from: o, now: &karpv1.NodePool{}}
	err := o.doc.Into(karpv1.GroupVersion.WithKind(karpv1.NodePoolKind), p.now)
	if err == nil && p.now.Spec.Template.Spec.NodeClassRef != nil {
		if c.pools = append(c.pools, p); p.takeStored() {
			o.now = []runtime.Object{p.now}
		}
	} else if o.kind.Kind == karpv1.NodePoolKind && mentions(o.doc.JSON(), kubeletAnnotation) {
		o.refuse("", "it is not valid, so %s stays, with which Karpenter 1.1 to 1.5 do not start; correct it: %v", kubeletAnnotation, err)
	}
}

// provisioner converts a Provisioner of v1alpha5 to a NodePool.
func (c *converter) provisioner(o *object, old *manifest[provisionerSpec, json.RawMessage]) {
	s := &old.Spec
	if s.Provider == nil && s.ProviderRef == nil {
		o.refuseFaults(field.ErrorList{field.Required(field.NewPath("spec", "providerRef"), "")})
		return
	}
	now := &c.newPool(o, old.ObjectMeta, "spec.kubeletConfiguration", s.KubeletConfiguration).Spec
	t := &now.Template.Spec
	recode(s, &now.Template.ObjectMeta)
	recode(s, t)
	now.Weight, now.Limits = s.Weight, s.Limits.Resources
	o.defaultRequirements(&now.Template)
	o.consolidation(s, &now.Disruption)
	if ttl := s.TTLSecondsUntilExpired; ttl != nil {
		t.ExpireAfter = seconds(*ttl)
		o.note(Warning, "spec.ttlSecondsUntilExpired", "is spec.template.spec.expireAfter now, and is by force: no budget holds it back, and changing it replaces nodes")
	} else {
		t.ExpireAfter = karpv1.NeverDuration()
		o.note(Info, "spec.template.spec.expireAfter", "set to Never, because nodes without ttlSecondsUntilExpired did not expire; left out it would be 720h")
	}
	if s.ProviderRef != nil {
		t.NodeClassRef = s.ProviderRef.now()
		return
	}
	name := c.freeClassName(o.doc.Name())
	t.NodeClassRef = (&oldReference{Name: name}).now()
	o.note(Info, "spec.provider", "is an object of its own now, EC2NodeClass %s", name)
	c.addClass(o, metav1.ObjectMeta{Name: name}, c.alphaClass(o, "spec.provider", s.Provider))
}

// now returns the reference in the form of v1.
func (r *oldReference) now() *karpv1.NodeClassReference {
	group, _, _ := strings.Cut(r.APIVersion, "/")
	kind := strings.Replace(r.Kind, "AWSNodeTemplate", awsv1.EC2NodeClassKind, 1)
	return &karpv1.NodeClassReference{Group: cmp.Or(group, awsv1.Group), Kind: cmp.Or(kind, awsv1.EC2NodeClassKind), Name: r.Name}
}

// seconds converts a number of seconds to a duration, or to Never if it is too large for one.
func seconds(n int64) karpv1.NillableDuration {
	if d, err := karpv1.ParseNillableDuration(strconv.FormatInt(n, 10) + "s"); err == nil {
		return d
	}
	return karpv1.NeverDuration()
}

// consolidation converts the settings of a Provisioner for consolidation and empty nodes.
func (o *object) consolidation(s *provisionerSpec, now *karpv1.Disruption) {
	now.ConsolidationPolicy = karpv1.ConsolidationPolicyWhenEmpty
	switch ttl := s.TTLSecondsAfterEmpty; {
	case s.Consolidation.Enabled:
		now.ConsolidationPolicy, now.ConsolidateAfter = karpv1.ConsolidationPolicyWhenEmptyOrUnderutilized, seconds(0)
		if ttl != nil {
			o.note(Warning, "spec.ttlSecondsAfterEmpty", "removed: it was not allowed together with consolidation, which has precedence")
		}
	case ttl != nil:
		now.ConsolidateAfter = seconds(*ttl)
	default:
		now.ConsolidateAfter = karpv1.NeverDuration()
		o.note(Info, "spec.disruption", "set to consolidate never, as the Provisioner did; left out, empty and underused nodes would be removed")
	}
	o.note(Warning, "spec.disruption.budgets", "there is a budget of 10%% of the nodes at a time now, for drift, emptiness and consolidation together; write budgets for another pace")
}

// defaultRequirements adds the requirements that the API server added to a Provisioner.
func (o *object) defaultRequirements(t *karpv1.NodeClaimTemplate) {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool {
			_, label := t.Labels[key]
			return label || slices.ContainsFunc(t.Spec.Requirements, func(r karpv1.NodeSelectorRequirementWithMinValues) bool { return r.Key == key })
		})
	}
	sized := has(corev1.LabelInstanceTypeStable, corev1.LabelInstanceType, awsv1.LabelInstanceFamily, awsv1.LabelInstanceCategory, awsv1.LabelInstanceGeneration)
	t.Spec.Requirements = append([]karpv1.NodeSelectorRequirementWithMinValues{}, t.Spec.Requirements...)
	for _, r := range []struct {
		there    bool
		key      string
		operator corev1.NodeSelectorOperator
		values   []string
	}{
		{has(corev1.LabelOSStable, "beta.kubernetes.io/os"), corev1.LabelOSStable, "In", []string{"linux"}},
		{has(corev1.LabelArchStable, "beta.kubernetes.io/arch"), corev1.LabelArchStable, "In", []string{"amd64"}},
		{has(karpv1.CapacityTypeLabelKey), karpv1.CapacityTypeLabelKey, "In", []string{"on-demand"}},
		{sized, awsv1.LabelInstanceCategory, "In", []string{"c", "m", "r"}},
		{sized, awsv1.LabelInstanceGeneration, "Gt", []string{"2"}},
	} {
		if !r.there {
			o.note(Info, "spec.requirements", "%s %s %v added, which was the default of v1alpha5; v1 has none", r.key, r.operator, r.values)
			t.Spec.Requirements = append(t.Spec.Requirements, karpv1.NodeSelectorRequirementWithMinValues{Key: r.key, Operator: r.operator, Values: r.values})
		}
	}
}

// betaPool converts a NodePool of v1beta1.
func (c *converter) betaPool(o *object, old *manifest[betaPoolSpec, karpv1.NodePoolStatus]) {
	const path = "spec.template.spec."
	s := &old.Spec
	now := c.newPool(o, old.ObjectMeta, path+"kubelet", s.Template.Spec.Kubelet)
	recode(s, &now.Spec)
	now.Status = old.Status
	t := &now.Spec.Template.Spec
	t.NodeClassRef = s.Template.Spec.NodeClassRef.now()
	if s.Template.Spec.Resources.Requests != nil {
		o.note(Warning, path+"resources", "removed: what nodes must have room for follows from the pods")
	}
	if t.ExpireAfter = s.Disruption.ExpireAfter; !t.ExpireAfter.IsNever() {
		o.note(Warning, "spec.disruption.expireAfter", "is spec.template.spec.expireAfter now, by default 720h as before, and is by force: no budget holds it back, and changing it replaces nodes")
	}
	o.betaConsolidation(&now.Spec.Disruption)
}

// betaConsolidation converts the consolidation of a NodePool, in place.
func (o *object) betaConsolidation(d *karpv1.Disruption) {
	if d.ConsolidationPolicy == "" || d.ConsolidationPolicy == "WhenUnderutilized" {
		d.ConsolidationPolicy = karpv1.ConsolidationPolicyWhenEmptyOrUnderutilized
	}
	if whenEmpty := d.ConsolidationPolicy == karpv1.ConsolidationPolicyWhenEmpty; d.ConsolidateAfter.IsZero() {
		d.ConsolidateAfter = seconds(0)
		o.note(Info, "spec.disruption.consolidateAfter", "set to 0s: v1 has it with every policy; v1beta1 waited 15s with WhenUnderutilized")
	} else if !d.ConsolidateAfter.IsNever() && !whenEmpty {
		o.note(Warning, "spec.disruption.consolidateAfter", "was not allowed with this policy and holds now: consolidation looks at a node once no pod came or went for so long")
	}
}

// machine converts a Machine of v1alpha5 to a NodeClaim.
func (c *converter) machine(o *object, old *manifest[machineSpec, claimStatus]) {
	beta := &manifest[betaClaimSpec, claimStatus]{ObjectMeta: old.ObjectMeta, Status: old.Status}
	recode(old.Spec, &beta.Spec)
	beta.Spec.NodeClassRef = old.Spec.MachineTemplateRef
	c.betaClaim(o, beta)
}

// betaClaim converts a NodeClaim of v1beta1.
func (c *converter) betaClaim(o *object, old *manifest[betaClaimSpec, claimStatus]) {
	now := &karpv1.NodeClaim{ObjectMeta: old.ObjectMeta}
	now.SetGroupVersionKind(karpv1.GroupVersion.WithKind(karpv1.NodeClaimKind))
	recode(old.Spec, &now.Spec)
	recode(old.Status, &now.Status)
	now.Spec.NodeClassRef = old.Spec.NodeClassRef.now()
	o.note(Warning, "spec.expireAfter", "is left out, which means 720h; write what the NodePool has")
	if old.Spec.Kubelet != nil {
		o.note(Info, "spec.kubelet", "removed: the settings of a node come from its EC2NodeClass, to which its pool gives them")
	}
	for i := range now.Status.Conditions {
		one := &now.Status.Conditions[i]
		one.Type = strings.TrimPrefix(one.Type, "Machine")
		one.Reason = cmp.Or(one.Reason, one.Type) // which v1 requires
	}
	o.now = []runtime.Object{now}
}

// rolePlaceholder is the role of nodes that a person has to replace.
const rolePlaceholder = "$KARPENTER_NODE_ROLE"

// class is an EC2NodeClass among the sources, converted, made or of v1 already.
type class struct {
	from *object // that it is converted from, or follows
	now  *awsv1.EC2NodeClass
}

// addClass adds a class to the result of converting an object.
func (c *converter) addClass(o *object, meta metav1.ObjectMeta, spec awsv1.EC2NodeClassSpec) *awsv1.EC2NodeClass {
	now := &awsv1.EC2NodeClass{ObjectMeta: meta, Spec: spec}
	now.SetGroupVersionKind(awsv1.GroupVersion.WithKind(awsv1.EC2NodeClassKind))
	o.now = append(o.now, now)
	c.classes = append(c.classes, &class{o, now})
	return now
}

// freeClassName returns and reserves a name that no EC2NodeClass has: the wanted one, or the wanted
// one with a number appended.
func (c *converter) freeClassName(wanted string) string {
	wanted = cmp.Or(wanted, "default")
	name := wanted
	for c.classNames[name] > 0 {
		c.classNames[wanted]++
		name = wanted + "-" + strconv.Itoa(c.classNames[wanted])
	}
	c.classNames[name] = 1
	return name
}

// nodeTemplate converts an AWSNodeTemplate of v1alpha1 to an EC2NodeClass.
func (c *converter) nodeTemplate(o *object, old *manifest[alphaClassSpec, json.RawMessage]) {
	c.addClass(o, old.ObjectMeta, c.alphaClass(o, "spec", &old.Spec))
}

// alphaClass converts the settings of v1alpha1, which are at a path of the object.
func (c *converter) alphaClass(o *object, path string, s *alphaClassSpec) (now awsv1.EC2NodeClassSpec) {
	recode(s, &now)
	recode(o.terms(path, "subnetSelector", s.SubnetSelector), &now.SubnetSelectorTerms)
	recode(o.terms(path, "securityGroupSelector", s.SecurityGroupSelector), &now.SecurityGroupSelectorTerms)
	if len(s.AMISelector) > 0 {
		o.note(Info, path+".amiSelector", "tags of images do not act as requirements of their nodes any more")
		now.AMISelectorTerms = o.terms(path, "amiSelector", s.AMISelector)
	}
	now.InstanceProfile = nil
	if profile := cmp.Or(s.InstanceProfile, c.options.InstanceProfile, c.profile); profile != "" {
		if now.InstanceProfile = &profile; s.InstanceProfile == "" {
			o.note(Info, path+".instanceProfile", "set to %s, the default of the global settings", profile)
		}
	} else if now.Role = cmp.Or(c.options.Role, rolePlaceholder); c.options.Role == "" {
		o.note(Action, path+".role", "replace %s by the IAM role of nodes, or name an instanceProfile: the default of the global settings is not known here", rolePlaceholder)
	}
	if len(c.tags) > 0 {
		now.Tags = maps.Clone(c.tags)
		maps.Copy(now.Tags, s.Tags)
		o.note(Info, path+".tags", "has those of the global settings as well, which have none any more")
	}
	if s.AMIFamily == "" {
		o.note(Info, path+".amiFamily", "is AL2, the default of v1alpha1")
	}
	o.classSettings(path, cmp.Or(s.AMIFamily, "AL2"), cmp.Or(c.options.AMIVersion, "latest"), &now)
	return now
}

// betaClass converts an EC2NodeClass of v1beta1.
func (c *converter) betaClass(o *object, old *manifest[betaClassSpec, awsv1.EC2NodeClassStatus]) {
	const stored = "compatibility.karpenter.k8s.aws/v1-alias-version" // by Karpenter 1.0
	spec := awsv1.EC2NodeClassSpec{}
	recode(old.Spec, &spec)
	o.classSettings("spec", old.Spec.AMIFamily, cmp.Or(old.Annotations[stored], c.options.AMIVersion, "latest"), &spec)
	delete(old.Annotations, stored)
	c.addClass(o, old.ObjectMeta, spec).Status = old.Status
}

// classSettings converts what v1alpha1 and v1beta1 have in common, in place.
func (o *object) classSettings(path, family, version string, now *awsv1.EC2NodeClassSpec) {
	o.images(path, family, version, now)
	if now.MetadataOptions == nil {
		now.MetadataOptions = &awsv1.MetadataOptions{}
	}
	if now.MetadataOptions.HTTPPutResponseHopLimit == nil {
		now.MetadataOptions.HTTPPutResponseHopLimit = new(int64(2))
		o.note(Info, path+".metadataOptions.httpPutResponseHopLimit", "set to 2, the default up to v1beta1; that of v1 is 1, which keeps pods from the credentials of the node")
	}
	if now.AssociatePublicIPAddress == nil {
		o.note(Info, path+".associatePublicIPAddress", "was false by default if all subnets are private, and is left to the subnet now; set it if a policy of the account asks for it")
	}
}

// images converts the family and the terms that select images.
func (o *object) images(path, family, version string, now *awsv1.EC2NodeClassSpec) {
	where, hasTerms := path+".amiFamily", len(now.AMISelectorTerms) > 0
	if family == "AL2" && !hasTerms {
		o.note(Warning, where, "there are no images of AL2 for Kubernetes 1.33 and later; plan for AL2023")
	}
	now.AMIFamily = new(amiselect.Family(family))
	switch alias := now.AMIFamily.AliasName(); {
	case family == string(amiselect.FamilyCustom):
		o.note(Action, where, "user data of family Custom must make the kubelet register with the taint karpenter.sh/unregistered:NoExecute; see to it")
	case alias != "" && !hasTerms:
		if strings.HasPrefix(family, "Windows") {
			version = "latest"
		}
		now.AMIFamily, now.AMISelectorTerms = nil, []awsv1.AMISelectorTerm{{Alias: alias + "@" + version}}
		o.note(Info, where, "is amiSelectorTerms with alias %s@%s now, which gives the family too", alias, version)
	}
	if len(now.AMISelectorTerms) == 0 {
		now.AMISelectorTerms = []awsv1.AMISelectorTerm{}
		o.note(Action, path+".amiSelectorTerms", "write terms that select the images; family %q has none of its own", family)
	}
}

// terms converts a selector of subnets, security groups or images. In a selector of images the keys
// for name and owner are special; in others they are tags.
func (o *object) terms(path, from string, selector map[string]string) (terms []awsv1.AMISelectorTerm) {
	where, others := path+"."+from, maps.Clone(selector)
	ids := strings.FieldsFunc(selector["aws-ids"]+","+selector["aws::ids"], func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		terms = append(terms, awsv1.AMISelectorTerm{ID: id})
	}
	delete(others, "aws-ids")
	delete(others, "aws::ids")
	if len(ids) > 0 && len(others) > 0 {
		o.note(Warning, where, "ids decide alone now; the other entries, which narrowed them down, are removed: %s", strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	}
	for _, set := range tagSets(others) {
		t := awsv1.AMISelectorTerm{Tags: set}
		if from == "amiSelector" {
			t.Name, t.Owner = set["aws::name"], set["aws::owners"]
			delete(set, "aws::name")
			delete(set, "aws::owners")
		}
		if len(set) == 0 {
			t.Tags = nil
		}
		if len(ids) == 0 && (t.Name != "" || len(set) > 0) {
			terms = append(terms, t)
		}
	}
	if len(terms) == 0 {
		o.note(Action, where, "selects nothing; write terms into %sTerms", from)
	} else if len(terms) > 1 {
		o.note(Info, where, "is %sTerms now, %d terms of which one has to match", from, len(terms))
	}
	return terms
}

// tagSets returns the product of the comma lists in the values of tags, in the order of the
// keys. The list of a key that would make the product larger than 1,000 sets is not split: classes
// take 30 terms.
func tagSets(tags map[string]string) []map[string]string {
	sets := []map[string]string{tags}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		values := strings.Split(strings.Trim(tags[key], " ,"), ",")
		if len(sets)*len(values) > 1000 {
			continue
		}
		var next []map[string]string
		for _, set := range sets {
			for _, v := range values {
				one := maps.Clone(set)
				one[key] = strings.TrimSpace(v)
				next = append(next, one)
			}
		}
		sets = next
	}
	return sets
}

// moveKubelets moves the kubelet settings of pools to their EC2NodeClasses, if the sources have
// these; of several classes with one name the first. A class keeps its own settings, and gets none
// if one of its pools has none. If pools of a class differ, the class is copied.
func (c *converter) moveKubelets() {
	classes, taken := map[string]*class{}, map[string]bool{}
	owner := map[[2]string]string{} // the class that has the settings, by the class of the pool and the settings
	for _, k := range slices.Backward(c.classes) {
		classes[k.now.Name], taken[k.now.Name] = k, k.now.Spec.Kubelet != nil
		owner[[2]string{k.now.Name, string(encoded(k.now.Spec.Kubelet))}] = k.now.Name
	}
	for _, p := range c.pools {
		name := p.now.Spec.Template.Spec.NodeClassRef.Name
		taken[name] = taken[name] || p.kubelet == nil
	}
	for _, p := range c.pools {
		ref := p.now.Spec.Template.Spec.NodeClassRef
		name, key := ref.Name, [2]string{ref.Name, string(encoded(p.kubelet))}
		k, now := classes[name], owner[key]
		switch {
		case p.kubelet == nil:
			continue
		case k == nil || ref.GroupKind() != awsv1.Kind(awsv1.EC2NodeClassKind):
			p.from.note(Action, p.field, "removed: write %s into spec.kubelet of the node class %s, which is not among the sources; or convert both together", key[1], name)
			continue
		case now == "":
			if now = name; k.from.now == nil { // of v1 already
				k.from.now = []runtime.Object{k.now}
			}
			if !taken[name] {
				k.now.Spec.Kubelet, taken[name] = p.kubelet, true
			} else {
				now = c.freeClassName(name + "-" + p.now.Name)
				c.addClass(k.from, metav1.ObjectMeta{Name: now, Labels: k.now.Labels}, k.now.Spec).Spec.Kubelet = p.kubelet
			}
			owner[key] = now
		}
		if ref.Name = now; now == name {
			p.from.note(Warning, p.field, "is spec.kubelet of EC2NodeClass %s now, and so holds for every pool of that class, also those that are not among the sources", now)
		} else {
			p.from.note(Warning, p.field, "is spec.kubelet of EC2NodeClass %s now, a copy of %s, of which other pools have other settings; the pool names it, which replaces its nodes", now, name)
		}
	}
}
