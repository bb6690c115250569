package overlay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
)

// TestConditions makes each outcome by Apply.
func TestConditions(t *testing.T) {
	pools := []*v1.NodePool{overlayPool("general", "")}
	tests := []struct {
		name           string
		overlays       []*v1.NodeOverlay
		of             string
		status         metav1.ConditionStatus
		reason, starts string
	}{
		{"sound", []*v1.NodeOverlay{newOverlay("a", 0, "", "1")}, "a", metav1.ConditionTrue, "ValidationSucceeded", ""},
		{"the one that counts", []*v1.NodeOverlay{newOverlay("a", 0, "", "1"), newOverlay("b", 0, "", "1")}, "a",
			metav1.ConditionTrue, "ValidationSucceeded", ""},
		{"the one that gives way", []*v1.NodeOverlay{newOverlay("a", 0, "", "1"), newOverlay("b", 0, "", "1")}, "b",
			metav1.ConditionFalse, "Conflict",
			`price of small/a/on-demand in NodePool "general": NodeOverlay "a" counts; and 3 more; give this overlay a weight that differs from those of a`},
		{"three for one resource", []*v1.NodeOverlay{newOverlay("c", 0, "", "example.com/gpu=1"), newOverlay("b", 0, "", "example.com/gpu=1"),
			newOverlay("a", 0, "", "example.com/gpu=1")}, "c", metav1.ConditionFalse, "Conflict",
			`example.com/gpu of small in NodePool "general": NodeOverlay "a" counts, "b" gives way too; give this overlay a weight that differs from those of a, b`},
		{"faults", []*v1.NodeOverlay{newOverlay("a", 0, "", "x.com/y=1", "1", "-200%")}, "a", metav1.ConditionFalse, "RuntimeValidation",
			`spec.priceAdjustment: Invalid value: "-200%": want a sign`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, statuses := applyOverlays(t, test.overlays, pools, overlayType("small", "", 1))
			status := statuses[test.of]
			require.Equal(t, test.status == metav1.ConditionTrue, status.Valid())
			conditions := status.Conditions()
			require.Len(t, conditions, 2)
			ready, validation := conditions[0], conditions[1]
			require.Equal(t, "Ready", ready.Type)
			require.Equal(t, test.status, ready.Status)
			require.Equal(t, "ValidationSucceeded", validation.Type)
			require.Equal(t, test.status, validation.Status)
			require.Equal(t, test.reason, validation.Reason)
			require.Equal(t, int64(3), validation.ObservedGeneration)
			require.True(t, validation.LastTransitionTime.IsZero())
			require.True(t, strings.HasPrefix(validation.Message, test.starts), validation.Message)
			require.Equal(t, test.status == metav1.ConditionTrue, validation.Message == "")
		})
	}
}

// TestConditionIsShort: a message fits a condition, and is never cut
// within a character.
func TestConditionIsShort(t *testing.T) {
	long := newOverlay("a", 0, "", strings.Repeat("9", 999)+strings.Repeat("é", 300))
	_, statuses := applyOverlays(t, []*v1.NodeOverlay{long}, []*v1.NodePool{overlayPool("general", "")})
	status := statuses["a"]
	message := status.Conditions()[1].Message
	require.LessOrEqual(t, len(message), 1024)
	require.Greater(t, len(message), 1000)
	require.True(t, strings.HasSuffix(message, "..."))
	require.Equal(t, strings.ToValidUTF8(message, ""), message)
}

func TestConflictString(t *testing.T) {
	c := overlay.Conflict{
		NodePool: "general",
		Offering: cloudprovider.OfferingKey{InstanceType: "small", Zone: "a", CapacityType: "spot"},
		With:     []string{"x", "y", "z"},
	}
	require.Equal(t, `price of small/a/spot in NodePool "general": NodeOverlay "x" counts, "y", "z" give way too`, c.String())
	require.Zero(t, c.Compare(c))
	require.Equal(t, -1, c.Compare(overlay.Conflict{NodePool: "h"}))
	d := c
	d.Resource = "example.com/gpu"
	require.Equal(t, -1, c.Compare(d))
}
