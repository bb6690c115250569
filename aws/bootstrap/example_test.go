package bootstrap_test

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// exampleNode returns a node of Amazon Linux 2023.
func exampleNode() bootstrap.Node {
	pods := int32(58)
	return bootstrap.Node{
		Family:      amiselect.FamilyAL2023,
		ClusterName: "prod",
		Endpoint:    "https://prod.example.com",
		CABundle:    "Y2EtYnVuZGxlCg==",
		ClusterCIDR: "10.100.0.0/16",
		Labels:      map[string]string{"karpenter.sh/nodepool": "default", "karpenter.sh/capacity-type": "spot"},
		MaxPods:     &pods,
	}
}

// A node runs a script of the user before it joins.
func Example() {
	n := exampleNode()
	n.CustomUserData = "#!/bin/bash\nsysctl -w vm.max_map_count=262144\n"
	u, err := bootstrap.Render(n)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(u.Text)
	// Output:
	// MIME-Version: 1.0
	// Content-Type: multipart/mixed; boundary="//"
	//
	// --//
	// Content-Type: text/x-shellscript; charset="us-ascii"
	//
	// #!/bin/bash
	// sysctl -w vm.max_map_count=262144
	//
	// --//
	// Content-Type: application/node.eks.aws
	//
	// # Generated. It comes last, and so wins.
	// apiVersion: node.eks.aws/v1alpha1
	// kind: NodeConfig
	// spec:
	//   cluster:
	//     apiServerEndpoint: https://prod.example.com
	//     certificateAuthority: Y2EtYnVuZGxlCg==
	//     cidr: 10.100.0.0/16
	//     name: prod
	//   kubelet:
	//     config:
	//       clusterDNS:
	//       - 10.100.0.10
	//       maxPods: 58
	//       registerWithTaints:
	//       - effect: NoExecute
	//         key: karpenter.sh/unregistered
	//     flags:
	//     - --node-labels=karpenter.sh/capacity-type=spot,karpenter.sh/do-not-sync-taints=true,karpenter.sh/nodepool=default
	//
	// --//--
}

// All faults come at once, each with its field.
func ExampleRender_faults() {
	n := exampleNode()
	n.ClusterCIDR = ""
	n.Labels = map[string]string{"team": "a,admin=true"}
	_, err := bootstrap.Render(n)
	var faults interface{ Errors() []error }
	if errors.As(err, &faults) {
		for _, fault := range faults.Errors() {
			first, _, _ := strings.Cut(fault.Error(), ":")
			fmt.Println(first)
		}
	}
	// Output:
	// clusterCIDR
	// labels[team]
}

// Settings of a user are merged with the generated ones, and what is lost of them
// is said.
func ExampleRender_bottlerocket() {
	n := exampleNode()
	n.Family = amiselect.FamilyBottlerocket
	n.CustomUserData = "[settings.kubernetes]\nmax-pods = 10\n[settings.kernel]\nlockdown = 'integrity'\n"
	u, err := bootstrap.Render(n)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range []string{"lockdown = 'integrity'", "max-pods = 58"} {
		fmt.Println(strings.Contains(u.Text, line))
	}
	fmt.Println(u.Warnings[0])
	// Output:
	// true
	// true
	// customUserData: settings.kubernetes.max-pods is replaced by a generated value: set it in the NodePool or in spec.kubelet, if they have it
}

// User data has a limit, and an error says who takes how much of it.
func ExampleSizeError() {
	n := exampleNode()
	n.CustomUserData = "#!/bin/bash\n" + strings.Repeat("echo a line of a long script\n", 600)
	_, err := bootstrap.Render(n)
	var size *bootstrap.SizeError
	fmt.Println(errors.As(err, &size))
	fmt.Println(size)

	n.Compress = true
	u, err := bootstrap.Render(n)
	fmt.Println(u.Compressed(), len(u.Bytes()) < bootstrap.MaxBytes, u.NearLimit(), err)
	// Output:
	// true
	// customUserData: user data has 18128 bytes, 1744 more than the 16384 that EC2 takes (custom user data 17465, NodeConfig 539, framing 124): shorten the custom user data, let it fetch the rest when it runs, or set Compress
	// true true false <nil>
}

func ExampleUserData_Base64() {
	u, err := bootstrap.Render(bootstrap.Node{Family: amiselect.FamilyCustom, CustomUserData: "#!/bin/sh"})
	fmt.Println(u.Base64(), err)
	// Output: IyEvYmluL3No <nil>
}

func ExampleNode_RegistrationLabels() {
	n := exampleNode()
	n.Labels["topology.kubernetes.io/zone"] = "eu-central-1a"
	labels := n.RegistrationLabels()
	_, zone := labels["topology.kubernetes.io/zone"]
	fmt.Println(labels["karpenter.sh/nodepool"], labels["karpenter.sh/do-not-sync-taints"], zone)
	// Output: default true false
}

func ExampleNode_RegistrationTaints() {
	n := exampleNode()
	n.StartupTaints = []corev1.Taint{{Key: "cni/not-ready", Effect: corev1.TaintEffectNoSchedule}}
	for _, t := range n.RegistrationTaints() {
		fmt.Println(t.ToString())
	}
	// Output:
	// cni/not-ready:NoSchedule
	// karpenter.sh/unregistered:NoExecute
}

func ExampleBottlerocketVersion() {
	fmt.Println(bootstrap.BottlerocketVersion("bottlerocket-aws-k8s-1.31-x86_64-v1.46.0-431fe75a"))
	// Output: v1.46.0
}

func ExampleFeaturesOf() {
	features := bootstrap.FeaturesOf(amiselect.FamilyBottlerocket)
	fmt.Println(features.Devices, features.EphemeralDevice, features.PodsPerCore)
	// Output: [{/dev/xvda 6} {/dev/xvdb 20}] /dev/xvdb false
}
