package scenario

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// nodeClass returns the node class that every pool refers to.
func nodeClass() *v1.NodeClassReference {
	return &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}
}

// deletedAt returns a deletion timestamp for objects that are being deleted; its value does not
// matter.
func deletedAt() *metav1.Time {
	return &metav1.Time{Time: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (b *builder) addPool(bl block) error {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: bl.rest}}
	template := &p.Spec.Template
	template.Spec.NodeClassRef = nodeClass()
	err := each(bl, func(l line) (err error) {
		switch l.word {
		case "types":
			b.poolTypes[p.Name] = nil
			if l.rest != "none" {
				b.poolTypes[p.Name] = list(l.rest)
			}
		case "require":
			template.Spec.Requirements, err = clauses(l.rest)
		case "labels":
			template.Labels, err = parseLabels(expand(l.rest))
		case "taints":
			template.Spec.Taints, err = parseTaints(l.rest)
		case "startup-taints":
			template.Spec.StartupTaints, err = parseTaints(l.rest)
		case "limits":
			var amounts corev1.ResourceList
			amounts, err = parseAmounts(l.rest)
			p.Spec.Limits = v1.Limits(amounts)
		case "weight":
			err = setWeight(p, l.rest)
		case "static":
			var n int64
			n, err = strconv.ParseInt(l.rest, 10, 64)
			p.Spec.Replicas = &n
		case "ready":
			setReady(p, l.rest)
		case "deleting":
			p.DeletionTimestamp = deletedAt()
		default:
			err = unknownOf("types", "require", "labels", "taints", "startup-taints", "limits", "weight", "static", "ready", "deleting")
		}
		return err
	})
	b.world.NodePools = append(b.world.NodePools, p)
	return err
}

func setWeight(p *v1.NodePool, text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	weight := int32(n)
	p.Spec.Weight = &weight
	return err
}

func setReady(p *v1.NodePool, text string) {
	status, reason, _ := strings.Cut(text, " ")
	p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{
		Type: v1.ConditionTypeReady, Status: metav1.ConditionStatus(status), Reason: reason,
	})
}
