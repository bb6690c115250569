package scenario

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Buffer is spare room to keep. Its fields are those of provisioning.Buffer.
type Buffer struct {
	Namespace, Name string
	Template        corev1.PodTemplateSpec
	Replicas        int
}

// Controller is the controller of some pods. Its fields are those of provisioning.Controller, to
// which it can be converted.
type Controller struct {
	UID      types.UID
	Selector *metav1.LabelSelector
}

func (b *builder) addNamespace(bl block) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: bl.rest, Labels: map[string]string{}}}
	err := each(bl, func(l line) (err error) {
		if l.word != "labels" {
			return unknownOf("labels")
		}
		ns.Labels, err = parseLabels(l.rest)
		return err
	})
	if ns.Labels != nil {
		// As the API server does.
		ns.Labels[corev1.LabelMetadataName] = ns.Name
	}
	b.world.Namespaces = append(b.world.Namespaces, ns)
	return err
}

func (b *builder) addOverlay(bl block) error {
	o := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: bl.rest}}
	o.Spec.Requirements = []v1.NodeSelectorRequirement{}
	err := each(bl, func(l line) (err error) {
		switch l.word {
		case "require":
			reqs, err := clauses(l.rest)
			for _, r := range reqs {
				o.Spec.Requirements = append(o.Spec.Requirements,
					v1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
			}
			return err
		case "price":
			o.Spec.Price = &l.rest
		case "adjust":
			o.Spec.PriceAdjustment = &l.rest
		case "capacity":
			o.Spec.Capacity, err = parseAmounts(l.rest)
		case "weight":
			var n int32
			n, err = number(l.rest, 0)
			o.Spec.Weight = &n
		default:
			err = unknownOf("require", "price", "adjust", "capacity", "weight")
		}
		return err
	})
	b.world.Overlays = append(b.world.Overlays, o)
	return err
}

// addBuffer reads NAME [xREPLICAS] and below it the lines of a pod.
func (b *builder) addBuffer(bl block) error {
	name, count, _, err := counted(bl.rest)
	if err != nil {
		return bl.fault("buffer %s: %w", name, err)
	}
	pod, err := newPod(bl, name)
	b.world.Buffers = append(b.world.Buffers, Buffer{
		Namespace: pod.Namespace, Name: name, Replicas: count,
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
	})
	return err
}

func (b *builder) addService(bl block) error {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: bl.rest}}
	err := each(bl, func(l line) (err error) {
		switch l.word {
		case "select":
			s.Spec.Selector, err = parseLabels(l.rest)
		case "namespace":
			s.Namespace = l.rest
		default:
			err = unknownOf("select", "namespace")
		}
		return err
	})
	b.world.Services = append(b.world.Services, s)
	return err
}

// addController reads NAME SELECTOR; the pods that are "owned NAME" are its.
func (b *builder) addController(bl block) error {
	name, text, _ := strings.Cut(bl.rest, " ")
	selector, err := parseSelector(text)
	if err != nil {
		return bl.fault("controller %s: %w", name, err)
	}
	b.world.Controllers = append(b.world.Controllers, Controller{UID: types.UID(name), Selector: selector})
	if len(bl.properties) > 0 {
		return bl.properties[0].fault("%q takes no lines below it", bl.word)
	}
	return nil
}
