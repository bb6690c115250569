package v1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

func TestDefaultOfReservations(t *testing.T) {
	c := class()
	c.Status.CapacityReservations = []v1.CapacityReservation{
		{ID: "cr-1"},
		{ID: "cr-2", ReservationType: v1.CapacityReservationTypeCapacityBlock, State: v1.CapacityReservationStateExpiring},
	}
	c.Default()
	require.Equal(t, []v1.CapacityReservation{
		{ID: "cr-1", ReservationType: v1.CapacityReservationTypeDefault, State: v1.CapacityReservationStateActive},
		{ID: "cr-2", ReservationType: v1.CapacityReservationTypeCapacityBlock, State: v1.CapacityReservationStateExpiring},
	}, c.Status.CapacityReservations)
	(*v1.EC2NodeClass)(nil).Default()
	(*v1.MetadataOptions)(nil).Default()
}
