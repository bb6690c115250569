// Package kubeletcel evaluates the expressions that spec.kubelet of an EC2NodeClass
// may have for maxPods and for reserved resources, as Karpenter's AWS provider does
// from 1.15 on behind its feature gate NodeClassCEL.
//
// It is a separate package because the interpreter of the language CEL is large: programs whose
// classes have no expressions need not build it. Pass an Evaluator to the provider:
//
//	options.KubeletExpressions = kubeletcel.New()
//
// # Model
//
// An expression is one of CEL with the variables of awsv1.ExpressionVariables, vcpus, memory_mib,
// default_enis, ips_per_eni and max_pods, which are integers, and instance_type, a string. In
// addition to the standard functions there are max and min of two numbers, either of which may be
// an integer or a double. The result is a number; a double loses its fraction. CEL operators do not
// mix integers and doubles: write double(vcpus) * 0.5.
//
//	maxPods: min(110, max_pods)
//	kubeReserved:
//	  cpu: max(60, vcpus * 30)
//	  memory: 11 * max_pods + 255
//
// # Left out
//
// The use of the number, its unit and its range: see
// awsv1.KubeletConfiguration.EvaluateExpressions.
//
// # Guarantees
//
// An expression is compiled once and kept, up to a bounded number of expressions; the cache does
// not affect answers. The length and the cost of an expression are limited, so that its evaluation
// ends soon. An Evaluator is safe for concurrent use.
package kubeletcel
