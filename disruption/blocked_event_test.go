package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption"
)

func TestEventsAreForWhatSomebodyCanChange(t *testing.T) {
	for want, list := range map[string][]disruption.Blocked{
		"DisruptionBlocked": {{Code: disruption.CodePodDisruptionBudget, Method: disruption.MethodConsolidation}, {Code: disruption.CodeDoNotDisrupt, Method: disruption.MethodDrift}},
		"Unconsolidatable":  {{Code: disruption.CodeNotCheaper, Method: disruption.MethodConsolidation}, {Code: disruption.CodeSavingTooSmall, Method: disruption.MethodConsolidation}},
		"": {{Code: disruption.CodeConsolidateAfter, Method: disruption.MethodConsolidation, Until: time.Unix(1, 0)},
			{Code: disruption.CodeDoNotDisrupt, Method: disruption.MethodDrift, Until: time.Unix(1, 0)}, // for a time
			{Code: disruption.CodeEmpty, Method: disruption.MethodConsolidation}, {Code: disruption.CodeNotDrifted, Method: disruption.MethodDrift},
			{Code: disruption.CodeUnplaced, Method: disruption.MethodDrift}, {}},
	} {
		for _, b := range list {
			require.Equal(t, want, b.Event(), "%s %s", b.Method, b.Code)
		}
	}
}

func ExampleBlocked_Event() {
	b := disruption.Blocked{Method: disruption.MethodConsolidation, Code: disruption.CodePodDisruptionBudget,
		Detail: `PodDisruptionBudget "shop/web" lets no pod go now`}
	fmt.Println(b.Event()+":", b.Detail)
	// Output: DisruptionBlocked: PodDisruptionBudget "shop/web" lets no pod go now
}
