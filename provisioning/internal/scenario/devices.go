package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Devices are the objects of dynamic resource allocation. The fields are those
// of provisioning.Devices of that name.
type Devices struct {
	Claims    []*resourcev1.ResourceClaim
	Templates []*resourcev1.ResourceClaimTemplate
	Classes   []*resourcev1.DeviceClass
	Slices    []*resourcev1.ResourceSlice
}

// Selectors in the form in which Kubernetes has them; Matcher reads no others.
const (
	driverSelector    = `device.driver == "%s"`
	attributeSelector = `device.attributes["example.com"].%s == "%s"`
)

// Matcher evaluates the selectors that texts make.
type Matcher struct{}

// Matches says whether a device has the driver or the attribute that a selector
// names.
func (Matcher) Matches(selector resourcev1.DeviceSelector, driver string, device *resourcev1.Device) (bool, error) {
	if selector.CEL == nil {
		return false, fmt.Errorf("the selector is empty; set cel.expression")
	}
	expression := selector.CEL.Expression
	if expression == fmt.Sprintf(driverSelector, driver) {
		return true, nil
	}
	for name, a := range device.Attributes {
		if a.StringValue != nil && expression == fmt.Sprintf(attributeSelector, strings.TrimPrefix(string(name), "example.com/"), *a.StringValue) {
			return true, nil
		}
	}
	return false, nil
}

// parseDevices reads DRIVER [xCOUNT] [ATTRIBUTE=VALUE, ...].
func parseDevices(text string) (cloudprovider.InstanceDevice, error) {
	d := cloudprovider.InstanceDevice{Count: 1}
	driver, rest, _ := strings.Cut(text, " ")
	if driver == "" {
		return d, fmt.Errorf("the driver is missing; write DRIVER [xCOUNT] [ATTRIBUTE=VALUE, ...]")
	}
	d.Driver = driver
	if word, behind, _ := strings.Cut(rest, " "); strings.HasPrefix(word, "x") && !strings.Contains(word, "=") {
		n, err := number(word[1:], 1)
		if err != nil {
			return d, err
		}
		d.Count, rest = min(int(n), 1000), behind
	}
	attributes, err := parseLabels(rest)
	for name, value := range attributes {
		if d.Device.Attributes == nil {
			d.Device.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
		}
		d.Device.Attributes[resourcev1.QualifiedName("example.com/"+name)] = resourcev1.DeviceAttribute{StringValue: &value}
	}
	return d, err
}

// publish makes the ResourceSlices of a node, one for each line.
func publish(node string, devices []cloudprovider.InstanceDevice) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for i, d := range devices {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", node, i+1)}}
		s.Spec.Driver, s.Spec.NodeName = d.Driver, &node
		s.Spec.Pool = resourcev1.ResourcePool{Name: s.Name, Generation: 1, ResourceSliceCount: 1}
		for j := range d.Count {
			one := *d.Device.DeepCopy()
			one.Name = fmt.Sprintf("device-%d", j+1)
			s.Spec.Devices = append(s.Spec.Devices, one)
		}
		out = append(out, s)
	}
	return out
}

func selector(format string, args ...any) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf(format, args...)}}
}

func (b *builder) addDeviceClass(bl block) error {
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: bl.rest}}
	err := each(bl, func(l line) error {
		switch l.word {
		case "driver":
			c.Spec.Selectors = append(c.Spec.Selectors, selector(driverSelector, l.rest))
		case "where":
			selectors, err := parseWhere(l.rest)
			c.Spec.Selectors = append(c.Spec.Selectors, selectors...)
			return err
		case "serves":
			c.Spec.ExtendedResourceName = &l.rest
		default:
			return unknownOf("driver", "where", "serves")
		}
		return nil
	})
	b.world.Devices.Classes = append(b.world.Devices.Classes, c)
	return err
}

// parseWhere reads ATTRIBUTE=VALUE, ...
func parseWhere(text string) ([]resourcev1.DeviceSelector, error) {
	var out []resourcev1.DeviceSelector
	for _, part := range list(text) {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not ATTRIBUTE=VALUE", part)
		}
		out = append(out, selector(attributeSelector, name, value))
	}
	return out, nil
}

// addDeviceClaims reads a ResourceClaim, or NAME-1 to NAME-COUNT.
func (b *builder) addDeviceClaims(bl block) error {
	name, count, many, err := counted(bl.rest)
	if err != nil {
		return bl.fault("device-claim %s: %w", name, err)
	}
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
	err = each(bl, func(l line) error {
		switch l.word {
		case "want":
			request, err := parseWant(l.rest, len(c.Spec.Devices.Requests))
			c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, request)
			return err
		case "holds":
			return allocate(c, l.rest)
		default:
			return unknownOf("want", "holds")
		}
	})
	for i := range count {
		one := c.DeepCopy()
		if many {
			one.Name = fmt.Sprintf("%s-%d", name, i+1)
		}
		b.world.Devices.Claims = append(b.world.Devices.Claims, one)
	}
	return err
}

func (b *builder) addDeviceTemplate(bl block) error {
	t := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: bl.rest}}
	err := each(bl, func(l line) error {
		if l.word != "want" {
			return unknownOf("want")
		}
		request, err := parseWant(l.rest, len(t.Spec.Spec.Devices.Requests))
		t.Spec.Spec.Devices.Requests = append(t.Spec.Spec.Devices.Requests, request)
		return err
	})
	b.world.Devices.Templates = append(b.world.Devices.Templates, t)
	return err
}

// parseWant reads CLASS [xCOUNT|all] [where ATTRIBUTE=VALUE, ...].
func parseWant(text string, index int) (resourcev1.DeviceRequest, error) {
	r := resourcev1.DeviceRequest{Name: fmt.Sprintf("request-%d", index+1)}
	head, words, err := phrases(text, "all", "where")
	if err != nil {
		return r, err
	}
	class, rest, _ := strings.Cut(head, " ")
	exact := &resourcev1.ExactDeviceRequest{
		DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
	}
	r.Exactly = exact
	if class == "" || rest != "" && !strings.HasPrefix(rest, "x") {
		return r, fmt.Errorf("%q is not CLASS [xCOUNT|all] [where ATTRIBUTE=VALUE, ...]", text)
	}
	if rest != "" {
		n, err := number(rest[1:], 1)
		if err != nil {
			return r, err
		}
		exact.Count = int64(n)
	}
	if _, all := words["all"]; all {
		exact.AllocationMode, exact.Count = resourcev1.DeviceAllocationModeAll, 0
	}
	exact.Selectors, err = parseWhere(words["where"])
	return r, err
}

// allocate reads NODE DEVICES: the claim has those devices of the first slice
// of the node.
func allocate(c *resourcev1.ResourceClaim, text string) error {
	node, devices, ok := strings.Cut(text, " ")
	driver, devices, named := strings.Cut(devices, " ")
	if !ok || !named || len(c.Spec.Devices.Requests) == 0 {
		return fmt.Errorf("%q is not NODE DRIVER DEVICES below a line want", text)
	}
	a := &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: nodeNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}}
	for _, device := range list(devices) {
		a.Devices.Results = append(a.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: c.Spec.Devices.Requests[0].Name, Driver: driver, Pool: node + "-1", Device: device,
		})
	}
	c.Status.Allocation = a
	return nil
}

// addResourceClaims gives a pod claims, by name or by template.
func addResourceClaims(spec *corev1.PodSpec, text string, template bool) {
	for _, name := range list(text) {
		claim := corev1.PodResourceClaim{Name: fmt.Sprintf("claim-%d", len(spec.ResourceClaims)+1)}
		if template {
			claim.ResourceClaimTemplateName = &name
		} else {
			claim.ResourceClaimName = &name
		}
		spec.ResourceClaims = append(slices.Clip(spec.ResourceClaims), claim)
		main := &spec.Containers[0].Resources
		main.Claims = append(main.Claims, corev1.ResourceClaim{Name: claim.Name})
	}
}
