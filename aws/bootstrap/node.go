package bootstrap

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// Node is the input of Render. It is read and never modified.
type Node struct {
	// Family decides the format. It is required. FamilyCustom uses only CustomUserData.
	Family amiselect.Family
	// ClusterName is the name of the EKS cluster. It is required except for FamilyCustom.
	ClusterName string
	// Endpoint is the URL of the API server, beginning with https://. It is required except for
	// FamilyCustom.
	Endpoint string
	// CABundle is the certificate authority of the API server as PEM in standard
	// base64, without line breaks. FamilyAL2023 requires it. AL2 and Windows look
	// it up on the instance if it is empty, Bottlerocket has it from the user's
	// settings.
	CABundle string
	// ClusterCIDR is the range of the cluster's services, such as 10.100.0.0/16.
	// FamilyAL2023 requires it. Elsewhere it may be empty.
	ClusterCIDR string
	// IPFamily is the kind of address of the cluster. If it is empty, it is that
	// of ClusterCIDR, else of DNSIP, else of the first entry of
	// Kubelet.ClusterDNS, else IPv4. Windows nodes need IPv4.
	IPFamily IPFamily
	// DNSIP is the ClusterIP of the Service kube-system/kube-dns. If it is empty,
	// it is the tenth address of ClusterCIDR, which is the one that EKS takes.
	DNSIP string
	// Labels are those of the NodeClaim, karpenter.sh/capacity-type included. RegistrationLabels
	// returns those that the kubelet registers.
	Labels map[string]string
	// Taints are the taints of the NodeClaim.
	Taints []corev1.Taint
	// StartupTaints are the taints of the NodeClaim that a program on the node removes.
	StartupTaints []corev1.Taint
	// Kubelet are the settings of the EC2NodeClass, with expressions resolved: a MaxPods that is
	// text counts as nil. Without ClusterDNS the node gets DNSIP. Reserves that are not set are
	// left out, and the image computes its own. Only AL2023 accepts Extra and more than one
	// ClusterDNS; Bottlerocket does not accept PodsPerCore.
	Kubelet awsv1.KubeletConfiguration
	// MaxPods is the number of pods that the instance type can have, used if
	// Kubelet.MaxPods is nil. If both are nil, the image decides.
	MaxPods *int32
	// InstanceStore says how the disks of the machine are used. Windows ignores it with a warning.
	InstanceStore awsv1.InstanceStorePolicy
	// BottlerocketVersion is the version of the image, such as 1.46.0 or v1.46.0, or "latest", or
	// empty or anything else if it is not known. It matters to FamilyBottlerocket with
	// awsv1.InstanceStorePolicyRAID0 only: before 1.22 there is no command for it, and before 1.46
	// or with an unknown version the command gets the directories as arguments. See
	// BottlerocketVersion.
	BottlerocketVersion string
	// CustomUserData is spec.userData, as its family wants it.
	//
	//	AL2, AL2023    a multipart MIME archive; or a text that cloud-init knows by
	//	               its first line, such as #cloud-config; or for AL2023 a
	//	               NodeConfig; or else a shell script
	//	Bottlerocket   TOML
	//	Windows        PowerShell commands, without <powershell> around them
	//	Custom         anything
	CustomUserData string
	// Compress packs user data with gzip where it would be too large for EC2 otherwise. AL2 and
	// Bottlerocket unpack it, and so does AL2023 except for its first images; Windows does not, and
	// for FamilyCustom it has no effect.
	Compress bool
}
