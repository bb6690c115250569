package bootstrap

import (
	"strings"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// al2 makes user data of Amazon Linux 2. Its image has a script that configures
// the kubelet; ours calls it after the scripts of the user.
func (n *Node) al2(w network, custom []mimePart) UserData {
	return mimeData(custom, "bootstrap script", mimePart{
		header: []string{"Content-Type: " + typeShell + `; charset="us-ascii"`},
		body:   n.al2Script(w),
	})
}

func (n *Node) al2Script(w network) string {
	words := []string{"/etc/eks/bootstrap.sh " + shellWord(n.ClusterName),
		"--apiserver-endpoint " + shellWord(n.Endpoint)}
	add := func(option, value string) {
		if value != "" {
			words = append(words, option+" "+shellWord(value))
		}
	}
	add("--b64-cluster-ca", n.CABundle)
	if w.family == IPv6 {
		words = append(words, "--ip-family ipv6")
		// The script requires this for IPv6.
		add("--service-ipv6-cidr", w.ipv6CIDR())
	}
	if len(w.dns) > 0 {
		add("--dns-cluster-ip", w.dns[0])
	}
	if n.maxPods() != nil {
		// Otherwise the script would write its own number, which overrides the flag.
		words = append(words, "--use-max-pods false")
	}
	add("--kubelet-extra-args", n.flagLine())
	if n.InstanceStore == awsv1.InstanceStorePolicyRAID0 {
		words = append(words, "--local-disks raid0")
	}
	return "#!/bin/bash -xe\n" +
		"exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n" +
		strings.Join(words, " \\\n  ") + "\n"
}
