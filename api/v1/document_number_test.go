package v1_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Some short texts are numbers that nobody can work out. They are faults, and found
// at once.
func TestQuantitiesThatTakeForEver(t *testing.T) {
	const pool = `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"},"spec":{"limits":{"cpu":QUANTITY},
		"template":{"spec":{"nodeClassRef":{"group":"g.k","kind":"C","name":"d"},"requirements":[]}}}}`
	for _, quantity := range []string{`"1e-99999999"`, `"1E-2147483647"`, `"0.1e-2000000000"`, `"` + strings.Repeat("1", 101) + `"`} {
		_, err := v1.DecodeNodePool([]byte(strings.Replace(pool, "QUANTITY", quantity, 1)))
		require.ErrorContains(t, err, "spec.limits[cpu]: Invalid value: ", quantity)
		require.ErrorContains(t, err, "want a quantity of ordinary size", quantity)
		require.Less(t, len(err.Error()), 300)
	}
	for _, quantity := range []string{`"1e3"`, `1e3`, `1e-99999999`, `"1e-3"`, `0`, `0.0`, `"1Ei"`, `"5E"`, `"12.5E"`, `"100m"`, `"1e-100"`} {
		_, err := v1.DecodeNodePool([]byte(strings.Replace(pool, "QUANTITY", quantity, 1)))
		require.NoError(t, err, quantity)
	}
}
