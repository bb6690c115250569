package convert_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// writer makes random manifests that the old versions accepted.
type writer struct {
	*rand.Rand
}

// some returns a random part of the lines, joined.
func (w writer) some(indent string, lines ...string) string {
	var out []string
	for _, line := range lines {
		if w.IntN(2) == 0 {
			out = append(out, indent+strings.ReplaceAll(line, "\n", "\n"+indent))
		}
	}
	w.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return strings.Join(out, "\n") + "\n"
}

// pick returns one of the texts.
func (w writer) pick(texts ...string) string { return texts[w.IntN(len(texts))] }

const kubeletLines = "maxPods: 40\nsystemReserved: {cpu: 1, memory: 100Mi}\nevictionHard: {memory.available: 5%}\ncpuCFSQuota: true"

func (w writer) provisioner(name, class string) string {
	return "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata:\n  name: " + name + "\nspec:\n" +
		w.pick("  providerRef: {name: "+class+"}\n", "  providerRef:\n    apiVersion: karpenter.k8s.aws/v1alpha1\n    kind: AWSNodeTemplate\n    name: "+class+"\n",
			"  provider:\n"+w.template("    ")) +
		w.pick("", "  consolidation: {enabled: true}\n", "  consolidation:\n    enabled: false\n", "  ttlSecondsAfterEmpty: 30 # soon\n") +
		w.some("  ", "# about labels\nlabels:\n  team: a", "annotations: {a: b}", "taints:\n- {key: a, effect: NoSchedule}",
			"startupTaints: [{key: b, effect: NoExecute}]", "ttlSecondsUntilExpired: 3600", "limits:\n  resources:\n    cpu: 10",
			"weight: 7", "requirements:\n# first\n- {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}",
			"kubeletConfiguration:\n  containerRuntime: containerd\n  "+strings.ReplaceAll(kubeletLines, "\n", "\n  "))
}

// template returns the spec of an AWSNodeTemplate.
func (w writer) template(indent string) string {
	return indent + "subnetSelector: " + w.pick("{Name: a}", `{aws-ids: "subnet-1,subnet-2"}`, `{Name: "a,b", team: c}`) + "\n" +
		indent + "securityGroupSelector: " + w.pick("{Name: a}", "{aws-ids: sg-1}", `{karpenter.sh/discovery: demo}`) + "\n" +
		w.some(indent, "instanceProfile: nodes", "context: c", "tags: {a: b}", "metadataOptions: {httpTokens: optional}",
			"amiSelector: {aws::name: 'a,b', aws::owners: self}", "amiFamily: Bottlerocket",
			"blockDeviceMappings:\n- deviceName: /dev/xvda\n  ebs: {volumeSize: 20Gi, encrypted: true}")
}

func (w writer) pool(name, class string) string {
	return "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata:\n  name: " + name + "\nspec:\n  template:\n" +
		w.pick("", "    metadata:\n      labels: {a: b}\n") + "    spec:\n" +
		w.pick("      nodeClassRef: {name: "+class+"}\n", "      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: "+class+"}\n") +
		w.pick("      requirements: []\n", "      requirements:\n      - {key: kubernetes.io/arch, operator: In, values: [amd64], minValues: 1}\n") +
		w.some("      ", "taints: [{key: a, effect: NoSchedule}]", "kubelet:\n  "+strings.ReplaceAll(kubeletLines, "\n", "\n  "), "# odd\nstartupTaints: []") +
		w.pick("", "  disruption: {expireAfter: 10h}\n", "  disruption:\n    consolidationPolicy: WhenUnderutilized\n    budgets: [{nodes: \"1\"}]\n",
			"  disruption:\n    consolidationPolicy: WhenEmpty\n    consolidateAfter: 30s\n    expireAfter: Never\n") +
		w.some("  ", "limits: {cpu: 10}", "weight: 3")
}

func (w writer) class(name string) string {
	if w.IntN(2) == 0 {
		return "apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata:\n  name: " + name + "\nspec:\n" + w.template("  ")
	}
	return "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata:\n  name: " + name + "\nspec:\n  subnetSelectorTerms: [{id: subnet-1}]\n" +
		"  securityGroupSelectorTerms: [{name: a}]\n" + w.pick("  role: r\n", "  instanceProfile: p\n") +
		w.pick("  amiFamily: AL2023\n", "  amiFamily: AL2\n  amiSelectorTerms: [{tags: {a: b}}]\n", "  amiFamily: Windows2022\n") +
		w.some("  ", "tags: {a: b}", "detailedMonitoring: true", "instanceStorePolicy: RAID0", "associatePublicIPAddress: false")
}

// TestRandomClusters converts clusters that the old versions accepted. What comes
// out is valid, says all that is to be done, and is not changed again. Comments
// stay.
func TestRandomClusters(t *testing.T) {
	for seed := range uint64(testlong.Seeds(30, 120)) {
		w := writer{rand.New(rand.NewPCG(seed, 1))}
		var docs []string
		for i := range 1 + w.IntN(3) {
			class := fmt.Sprintf("c%d", w.IntN(2))
			docs = append(docs, w.pick(w.provisioner(fmt.Sprintf("p%d", i), class), w.pool(fmt.Sprintf("p%d", i), class)))
		}
		docs = append(docs, w.class("c0"), w.class("c1"))
		w.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		text := strings.Join(docs, "---\n")

		objects, notes, err := decode(&convert.Options{Role: "nodes"}, text)
		require.NoError(t, err, text)
		require.Less(t, convert.Worst(notes), convert.Action, "%v\n%s", notes, text)
		dense := map[string]bool{} // of classes, whether they have the kubelet settings
		for _, c := range objects.NodeClasses {
			dense[c.Name] = c.Spec.Kubelet != nil && c.Spec.Kubelet.MaxPods.IntValue() == 40
			c.Default()
			require.Empty(t, c.Validate(), text)
		}
		for _, p := range objects.NodePools {
			i := slices.IndexFunc(docs, func(doc string) bool { return strings.Contains(doc, "  name: "+p.Name+"\n") })
			got, found := dense[p.Spec.Template.Spec.NodeClassRef.Name]
			require.True(t, found, text)
			require.Equal(t, strings.Contains(docs[i], "maxPods"), got, "pool %s\n%s", p.Name, text)
			p.Default()
			require.Empty(t, p.ValidateWith(awsv1.NodePoolRules()), text)
		}
		out, _ := convertText(text, nil)
		again, _ := convertText(out, nil)
		require.Equal(t, out, again)
	}
}
