// Package status reads and writes the statuses of NodePools, NodeClaims and Nodes: lists of
// conditions and their messages, amounts of resources, and taints.
package status

import (
	"slices"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// Find returns the condition of a type in a list, nil if there is none.
func Find(list []metav1.Condition, kind string) *metav1.Condition {
	i := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// MaxMessage is the largest length of the message of a condition: the API server refuses a status
// with more characters.
const MaxMessage = 32768

// With returns a copy of a list in which a condition is set. LastTransitionTime is now if the Status
// changes, else it is kept. The message is shortened to MaxMessage bytes.
func With(list []metav1.Condition, c metav1.Condition, now time.Time) []metav1.Condition {
	list = slices.Clone(list)
	c.Message = Short(c.Message, MaxMessage)
	c.LastTransitionTime = metav1.NewTime(now)
	have := Find(list, c.Type)
	if have == nil {
		return append(list, c)
	}
	if have.Status == c.Status {
		c.LastTransitionTime = have.LastTransitionTime
	}
	*have = c
	return list
}

// Short shortens a text to at most most bytes, with dots at the cut. It does not cut within a
// character.
func Short(text string, most int) string {
	const dots = "..."
	if len(text) <= most {
		return text
	}
	end := max(most-len(dots), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + dots
}

// Ready reports whether the condition Ready of a Node is True. It is false for a nil Node.
func Ready(node *corev1.Node) bool {
	return node != nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// HasTaint reports whether a Node has a taint with this key and effect.
func HasTaint(node *corev1.Node, t corev1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(o corev1.Taint) bool { return o.MatchTaint(&t) })
}

// SameAmounts reports whether two lists name the same resources with equal amounts.
func SameAmounts(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, amount := range a {
		if other, listed := b[name]; !listed || quantity.Compare(amount, other) != 0 {
			return false
		}
	}
	return true
}
