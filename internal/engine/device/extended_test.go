package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/device"
)

func TestClassServing(t *testing.T) {
	serving := func(name, resource string, created int64) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(created, 0)}}
		if resource != "" {
			c.Spec.ExtendedResourceName = &resource
		}
		return c
	}
	x, err := device.New(device.Objects{Classes: []*resourcev1.DeviceClass{
		serving("old", "example.com/gpu", 1), serving("b", "example.com/gpu", 2), serving("a", "example.com/gpu", 2), serving("plain", "", 3),
	}}, nil)
	require.NoError(t, err)
	for name, class := range map[corev1.ResourceName]string{
		"example.com/gpu":   "a", // the newest, and of two the first by name
		"example.com/other": "",
		"":                  "",
		"deviceclass.resource.kubernetes.io/plain": "plain",
		"deviceclass.resource.kubernetes.io/old":   "old",
		"deviceclass.resource.kubernetes.io/none":  "",
	} {
		require.Equal(t, class, x.ClassServing(name), name)
	}
}
