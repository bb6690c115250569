// Package convert rewrites the manifests of earlier versions of Karpenter as
// those of version v1: Provisioner, Machine and AWSNodeTemplate of the alpha
// days, NodePool, NodeClaim and EC2NodeClass of v1beta1, and what pods and nodes
// say in the words of those days.
//
// # Model
//
//	karpenter.sh/v1alpha5       Provisioner      becomes  NodePool
//	                            Machine          becomes  NodeClaim
//	karpenter.k8s.aws/v1alpha1  AWSNodeTemplate  becomes  EC2NodeClass
//	karpenter.sh/v1beta1        NodePool, NodeClaim
//	karpenter.k8s.aws/v1beta1   EC2NodeClass
//
// Texts are converted together, because some settings move from one object to
// another: the kubelet section of a pool goes to its EC2NodeClass, of which
// copies are made if pools differ; an inline provider section of a Provisioner
// becomes an EC2NodeClass; a ConfigMap karpenter-global-settings has tags and an
// instance profile that classes have to name now. So give Convert all manifests
// of a cluster at once. Where the other object is not there, a Note says what to
// write into it.
//
// Whatever holds pods keeps its kind: annotations, node selectors, affinity and
// tolerations are rewritten, in every object that has a pod template where
// Deployments or CronJobs have theirs.
//
// A Note is written for each thing that is lost, added or means something else
// now, and for each object that is left as it is. What has to be completed by
// hand has the severity Action; the result of every conversion is decoded and
// validated, so that none of this is missed.
//
// # Texts
//
// The package works on YAML nodes and not on Go types. So comments and the order
// of fields and documents stay (a Note names each comment whose field has no place
// any more), fields that it does not know are kept, and so is
// templating that was not expanded: ${CLUSTER_NAME} is text like any other, also
// where a number should be, and so is {{ .Values.name }} within a line. Lines of
// actions and directives, also in comments, and variables that are no YAML where
// they stand make a template of a document: it is left as it is. A document with
// nothing to convert is passed on byte for byte.
//
// # What is left out
//
// Helm values, environment variables and IAM policies are not rewritten. Launch
// templates of one's own cannot be translated without AWS; such an
// AWSNodeTemplate is left as it is. So is a patch of Kustomize, an object without what
// every whole one of its kind has: convert what kustomize build prints. Selecting capacity type on-demand does not
// include reserved capacity, which the old versions did not have.
//
// # Guarantees
//
// Everything is a function of the arguments: no clock, no I/O, no log. The same
// input gives the same bytes and notes. Converting the result again changes
// nothing. Nothing is dropped without a Note, and no input makes a function
// panic. Sources and options are only read, and all functions may be called
// concurrently.
package convert
