package layout

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPercentIsNeverRoundedUp(t *testing.T) {
	require.Equal(t, "99%", Percent(0.9999))
	require.Equal(t, "100%", Percent(1))
	require.Equal(t, "29%", Percent(0.29), "0.29 is a little less than that in binary")
	require.Equal(t, ">999%", Percent(1e9))
}

func TestUSD(t *testing.T) {
	require.Equal(t, "0.0712", USD(0.0712, 4))
	require.Equal(t, "1e+300", USD(1e300, 4))
}
