package v1

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// ExpressionEvaluator evaluates the CEL expressions that spec.kubelet may have in place of numbers.
// A CEL interpreter is large; because of this interface, programs without such expressions do not
// contain one. Package aws/kubeletcel has an implementation.
//
// An implementation is safe for concurrent use, and gives the same answer to the
// same question.
type ExpressionEvaluator interface {
	// Check returns nil if the text is an expression over the variables with a number as its value,
	// else the fault.
	Check(expression string) error
	// Evaluate returns the number for one instance type, without its fraction.
	// The error, for an expression that Check refuses or that has no finite
	// value, need not repeat the expression.
	Evaluate(expression string, variables ExpressionVariables) (int64, error)
}

// ExpressionVariables are the variables of an expression. The comment of each field begins with the
// name of the field, followed by the name of its variable.
//
// +k8s:deepcopy-gen=false
type ExpressionVariables struct {
	// InstanceType, instance_type, is the name, such as m5.large.
	InstanceType string
	// VCPUs, vcpus, is the number of virtual CPUs.
	VCPUs int64
	// MemoryMiB, memory_mib, is the memory that EC2 states, in MiB.
	MemoryMiB int64
	// DefaultENIs, default_enis, is the number of network interfaces that the
	// default network card takes.
	DefaultENIs int64
	// IPsPerENI, ips_per_eni, is the number of IPv4 addresses of an interface.
	IPsPerENI int64
	// MaxPods, max_pods, is the number of pods: in the expression of maxPods the number without
	// maxPods, in others the number with it.
	MaxPods int64
}

// KubeletExpression is an expression among the settings of a kubelet.
//
// +k8s:deepcopy-gen=false
type KubeletExpression struct {
	// Field is its path, such as spec.kubelet.kubeReserved[cpu].
	Field string
	// Text is the expression.
	Text string
}

// Expressions returns the expressions among the settings: maxPods if it is a string, and the
// amounts of systemReserved and kubeReserved that are not quantities, in this order and by name. It
// is nil if there are none. Texts that Validate refuses in any case, such as empty ones, are left
// out.
func (k *KubeletConfiguration) Expressions() []KubeletExpression {
	if k == nil {
		return nil
	}
	var out []KubeletExpression
	if k.MaxPods != nil && k.MaxPods.Type == intstr.String && k.MaxPods.StrVal != "" {
		out = append(out, KubeletExpression{kubeletPath + "maxPods", k.MaxPods.StrVal})
	}
	for _, reserved := range k.reserved() {
		for _, key := range slices.Sorted(maps.Keys(reserved.amounts)) {
			if isExpression(reserved.amounts[key]) {
				out = append(out, reserved.expression(key))
			}
		}
	}
	return out
}

// reservedMap is one of the two maps of reserved resources.
type reservedMap struct {
	name    string
	amounts map[string]string
}

// expression returns an amount as an expression.
func (r reservedMap) expression(key string) KubeletExpression {
	return KubeletExpression{kubeletPath + r.name + "[" + key + "]", r.amounts[key]}
}

func (k *KubeletConfiguration) reserved() []reservedMap {
	return []reservedMap{{"systemReserved", k.SystemReserved}, {"kubeReserved", k.KubeReserved}}
}

// ValidateExpressions returns a fault for each expression of spec.kubelet that the evaluator
// refuses; without an evaluator every expression is Forbidden. Validate does not check expressions.
// Whether they have a value for every instance type is not known here.
func (c *EC2NodeClass) ValidateExpressions(e ExpressionEvaluator) field.ErrorList {
	if c == nil {
		return nil
	}
	var faults field.ErrorList
	for _, x := range c.Spec.Kubelet.Expressions() {
		at := field.NewPath(x.Field)
		if e == nil {
			faults = append(faults, field.Forbidden(at, fmt.Sprintf(
				"%q is an expression, and expressions are switched off; write a number or a quantity, or give an evaluator", x.Text)))
			continue
		}
		if err := e.Check(x.Text); err != nil {
			faults = append(faults, field.Invalid(at, x.Text, err.Error()))
		}
	}
	return faults
}

// EvaluateExpressions returns a copy of the settings for one instance type, in which
// each expression is replaced by its value. pods returns the number of pods of that
// type for a value of maxPods, nil for none; MaxPods of the variables is not read.
//
//	maxPods             a number of pods, 0 to 2147483647
//	cpu                 thousandths, rounded up to tens: 61 is 70m
//	memory              MiB, rounded up to 16: 17 is 32Mi
//	ephemeral-storage   GiB
//	pid                 a number of processes
//
// The error lists every expression without a value, and every value that is below zero or out of
// range. A nil receiver gives nil.
func (k *KubeletConfiguration) EvaluateExpressions(
	e ExpressionEvaluator, variables ExpressionVariables, pods func(maxPods *int32) int64,
) (*KubeletConfiguration, error) {
	out := k.DeepCopy()
	if len(k.Expressions()) == 0 {
		return out, nil
	}
	if e == nil {
		return nil, errors.New("expressions are switched off; give an evaluator")
	}
	var maxPods *int32
	var faults []error
	variables.MaxPods = pods(nil)
	switch {
	case k.MaxPods == nil:
	case k.MaxPods.Type == intstr.Int:
		maxPods = &k.MaxPods.IntVal
	default:
		n, err := evaluate(e, KubeletExpression{kubeletPath + "maxPods", k.MaxPods.StrVal}, variables, math.MaxInt32)
		if err != nil {
			// The other expressions depend on the number of pods.
			return nil, err
		}
		value := intstr.FromInt32(int32(n))
		out.MaxPods, maxPods = &value, &value.IntVal
	}
	variables.MaxPods = pods(maxPods)
	for _, reserved := range out.reserved() {
		for _, key := range slices.Sorted(maps.Keys(reserved.amounts)) {
			if !isExpression(reserved.amounts[key]) {
				continue
			}
			n, err := evaluate(e, reserved.expression(key), variables, math.MaxInt64)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			reserved.amounts[key] = amountOf(key, n)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}

// evaluate returns the value of an expression, from 0 to most.
func evaluate(e ExpressionEvaluator, x KubeletExpression, variables ExpressionVariables, most int64) (int64, error) {
	n, err := e.Evaluate(x.Text, variables)
	switch {
	case err != nil:
	case n < 0:
		err = fmt.Errorf("it is %d; make it zero or more, as by max", n)
	case n > most:
		err = fmt.Errorf("it is %d; make it %d at most, as by min", n, most)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %q for %s: %w", x.Field, x.Text, variables.InstanceType, err)
	}
	return n, nil
}

// amountOf writes a reserved amount in the unit of its resource.
func amountOf(resource string, n int64) string {
	switch corev1.ResourceName(resource) {
	case corev1.ResourceCPU:
		return strconv.FormatInt(roundUp(n, 10), 10) + "m"
	case corev1.ResourceMemory:
		return strconv.FormatInt(roundUp(n, 16), 10) + "Mi"
	case corev1.ResourceEphemeralStorage:
		return strconv.FormatInt(n, 10) + "Gi"
	}
	return strconv.FormatInt(n, 10)
}

// roundUp rounds up to a multiple of step, unless that is beyond 64 bits.
func roundUp(n, step int64) int64 {
	if n%step == 0 || n > math.MaxInt64-step {
		return n
	}
	return n + step - n%step
}

// isExpression reports whether a reserved amount is an expression: any text that is not a quantity.
// Validate refuses texts with a leading minus sign in either case.
func isExpression(text string) bool {
	if text == "" || strings.HasPrefix(text, "-") || quantity.Endless(text) {
		return false
	}
	_, err := resource.ParseQuantity(text)
	return err != nil
}
