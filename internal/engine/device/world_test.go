package device_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// words is a matcher for a language of one word: the expression "big" matches
// devices with the attribute "big", and "broken" cannot be evaluated for those
// with the attribute "fragile".
type words struct{}

func (words) Matches(s resourcev1.DeviceSelector, _ string, d *resourcev1.Device) (bool, error) {
	if _, fragile := d.Attributes["fragile"]; fragile && s.CEL.Expression == "broken" {
		return false, errors.New("cannot evaluate")
	}
	_, ok := d.Attributes[resourcev1.QualifiedName(s.CEL.Expression)]
	return ok, nil
}

const driver = "gpu.example.com"

// dev returns a device with attributes.
func dev(name string, attributes ...string) resourcev1.Device {
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
	for _, a := range attributes {
		yes := true
		d.Attributes[resourcev1.QualifiedName(a)] = resourcev1.DeviceAttribute{BoolValue: &yes}
	}
	return d
}

// shape returns an instance type with devices of one driver.
func shape(name string, devices ...cloudprovider.InstanceDevice) *cloudprovider.InstanceType {
	for i := range devices {
		if devices[i].Driver == "" {
			devices[i].Driver = driver
		}
	}
	return &cloudprovider.InstanceType{Name: name, Devices: devices}
}

func some(n int, attributes ...string) cloudprovider.InstanceDevice {
	return cloudprovider.InstanceDevice{Count: n, Device: dev("", attributes...)}
}

func selectors(expressions ...string) []resourcev1.DeviceSelector {
	var out []resourcev1.DeviceSelector
	for _, e := range expressions {
		out = append(out, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}})
	}
	return out
}

func class(name string, expressions ...string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{Selectors: selectors(expressions...)}}
}

// exactly returns a request for devices of a class.
func exactly(name, class string, count int64, expressions ...string) resourcev1.DeviceRequest {
	return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: class, Count: count, Selectors: selectors(expressions...), AllocationMode: resourcev1.DeviceAllocationModeExactCount}}
}

func all(name, class string, expressions ...string) resourcev1.DeviceRequest {
	r := exactly(name, class, 0, expressions...)
	r.Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
	return r
}

// first returns a request that is met by the first of some classes that will do.
func first(name string, options ...resourcev1.DeviceSubRequest) resourcev1.DeviceRequest {
	return resourcev1.DeviceRequest{Name: name, FirstAvailable: options}
}

func option(name, class string, count int64, expressions ...string) resourcev1.DeviceSubRequest {
	return resourcev1.DeviceSubRequest{Name: name, DeviceClassName: class, Count: count, Selectors: selectors(expressions...)}
}

func spec(requests ...resourcev1.DeviceRequest) resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: requests}}
}

func template(name string, requests ...resourcev1.DeviceRequest) *resourcev1.ResourceClaimTemplate {
	return &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: spec(requests...)}}
}

func claim(name string, requests ...resourcev1.DeviceRequest) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: spec(requests...)}
}

// allocate gives a claim devices of the pool of a node.
func allocate(c *resourcev1.ResourceClaim, node string, devices ...string) *resourcev1.ResourceClaim {
	c.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: onNode(node)}
	for _, d := range devices {
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results,
			resourcev1.DeviceRequestAllocationResult{Driver: driver, Pool: node, Device: d})
	}
	return c
}

func onNode(name string) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}},
	}}}
}

// slice returns one of one slices of the pool of a node.
func slice(node string, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-slice"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: &node, Devices: devices,
		Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}}
}

// pod uses each of some templates.
func pod(name string, templates ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name + "-uid")}}
	for i, t := range templates {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: fmt.Sprintf("c%d", i), ResourceClaimTemplateName: &t})
	}
	return p
}

// podOf uses each of some claims.
func podOf(name string, claims ...string) *corev1.Pod {
	p := pod(name)
	for i, c := range claims {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: fmt.Sprintf("c%d", i), ResourceClaimName: &c})
	}
	return p
}

func newIndex(t testing.TB, o device.Objects) *device.Index {
	t.Helper()
	if o.Matcher == nil {
		o.Matcher = words{}
	}
	x, err := device.New(o, nil)
	require.NoError(t, err)
	return x
}

// render writes amounts as text, one a line.
func render(l resources.List) string {
	var lines []string
	for name, n := range l.All() {
		text, ok := device.Amount(name, n)
		if !ok {
			text = "not a device: " + string(name)
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

// requests returns the amounts of a pod's first demand.
func requests(t testing.TB, c *device.Counts, n *device.Need) resources.List {
	t.Helper()
	lists, refusal := c.Requests(n)
	require.Nil(t, refusal)
	require.NotEmpty(t, lists)
	return lists[0]
}

func refusalOf(x *device.Index, pods ...*corev1.Pod) string {
	needs := x.Needs(pods)
	if r := needs[0].Refusal; r != nil {
		if r.Unsupported {
			return "unsupported: " + r.Text
		}
		return r.Text
	}
	return ""
}
