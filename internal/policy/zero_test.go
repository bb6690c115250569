package policy

import (
	"fmt"
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/api/convert"
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/classtypes"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	costs "github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/edits"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// zeroTexts has what the zero value of each public type with a method String prints. A text that
// would be wrong of something, such as a price of 0 or "not drifted", is replaced by "no price" or
// "no node". A text of nothing but punctuation claims nothing.
func zeroTexts() map[string][2]string {
	text := func(v fmt.Stringer, want string) [2]string { return [2]string{v.String(), want} }
	return map[string][2]string{
		"amiselect.Alias":                        text(amiselect.Alias{}, "no alias"),
		"amiselect.Explanation":                  text(amiselect.Explanation{}, "the image "),
		"amiselect.Image":                        text(amiselect.Image{}, ""),
		"amiselect.Pattern":                      text(amiselect.Pattern{}, ""),
		"amiselect.Term":                         text(amiselect.Term{}, "nothing"),
		"api/convert.Note":                       text(convert.Note{}, "line 0: Severity(0)"),
		"api/convert.Severity":                   text(convert.Severity(0), "Severity(0)"),
		"api/v1.NillableDuration":                text(v1.NillableDuration{}, ""),
		"aws/classtypes.Exclusion":               text(classtypes.Exclusion{}, ": : "),
		"aws/classtypes.Problem":                 text(classtypes.Problem{}, "instance type without a name: "),
		"aws/nodecost.Cost":                      text(nodecost.Cost{}, "0.0000 USD/h (volumes 0.0000)"),
		"budgets.Decider":                        text(budgets.Decider{}, "none"),
		"budgets.Finding":                        text(budgets.Finding{}, "budgets[0].: : ; "),
		"budgets.Schedule":                       text(&budgets.Schedule{}, ""),
		"cloudprovider.Kind":                     text(cloudprovider.Kind(""), "unknown failure"),
		"cloudprovider.LaunchOption":             text(cloudprovider.LaunchOption{}, "?"),
		"cloudprovider.OfferingKey":              text(cloudprovider.OfferingKey{}, "?/?/?"),
		"cloudprovider.Scope":                    text(cloudprovider.Scope{}, "every offering"), // which it covers
		"cloudprovider/availability.Mark":        text(availability.Mark{}, "no mark"),
		"cloudprovider/cloudprovidertest.Result": text(cloudprovidertest.Result{}, "no check"),
		"cloudprovider/kubelet.Threshold":        text(kubelet.Threshold{}, "0"),
		"cloudprovider/launch.Dropped":           text(launch.Dropped{}, "?/?/?: "),
		"cloudprovider/launch.Selection":         text(launch.Selection{}, "0 options of 0 instance types"),
		"cloudprovider/launch.Unmet":             text(launch.Unmet{}, ": 0 of 0 values"),
		"cloudprovider/overlay.Conflict":         text(overlay.Conflict{}, `price of ?/?/? in NodePool ""`),
		"cloudprovider/pricing.Quote":            text(pricing.Quote{}, "?/?/?: unknown price"),
		"disruption.Action":                      text(disruption.Action{}, "  ()"),
		"disruption.Blocked":                     text(disruption.Blocked{}, ": "),
		"disruption.Candidate":                   text(disruption.Candidate{}, ""),
		"disruption.DriftStatus":                 text(disruption.DriftStatus{}, "no node"),
		"disruption.Explanation":                 text(&disruption.Explanation{}, "no node"),
		"disruption.IgnoredNotice":               text(disruption.IgnoredNotice{}, " of machine : "),
		"disruption.Move":                        text(disruption.Move{}, "no pod"),
		"disruption.Objection":                   text(disruption.Objection{}, ": "),
		"disruption.Target":                      text(disruption.Target{}, ""),
		"disruption.Waiting":                     text(disruption.Waiting{}, "  () waits for : "),
		"disruption/command.Record": text(command.Record{},
			`{"id":"","reason":"","mode":"","created":"0001-01-01T00:00:00Z","deadline":"0001-01-01T00:00:00Z","sources":null}`),
		"disruption/command.Write":              text(command.Write{}, " nodeclaim/"),
		"disruption/compare.BudgetPrice":        text(costs.BudgetPrice{}, "no budget"),
		"disruption/compare.Difference":         text(costs.Difference{}, ": 0, was 0"),
		"disruption/drain.Group":                text(drain.Group(0), "Group(0)"),
		"disruption/drain.PodPlan":              text(drain.PodPlan{}, "no pod"),
		"edits.Request":                         text(edits.Request{}, "{}"),
		"fake.Event":                            text(fake.Event{}, "+0s  "),
		"provisioning.Explanation":              text(&provisioning.Explanation{}, ""),
		"provisioning.GivenUpPreference":        text(&provisioning.GivenUpPreference{}, "no preference"),
		"provisioning.MissedMinValues":          text(provisioning.MissedMinValues{}, "no minValues"),
		"provisioning.PoolExplanation":          text(&provisioning.PoolExplanation{}, "NodePool : "),
		"provisioning.Shortfall":                text(&provisioning.Shortfall{}, "no shortfall"),
		"provisioning.Why":                      text(provisioning.Why{}, "no node"),
		"provisioning/advice.Constraint":        text(advice.Constraint{}, ":  "),
		"provisioning/advice.Price":             text(advice.Price{}, "no constraint"),
		"provisioning/progress.Event":           text(progress.Event{}, ": "),
		"provisioning/requirements.Conflict":    text(requirements.Conflict{}, "no conflict"),
		"provisioning/requirements.Requirement": text(requirements.Requirement{}, `"" notin ()`), // any value
		"provisioning/requirements.Set":         text(requirements.Set{}, ""),
		"provisioning/resources.List":           text(resources.List{}, ""),
		"provisioning/verify.Violation":         text(verify.Violation{}, ": "),
	}
}

// TestZeroValues compares zeroTexts, and asks for every type with a method String.
func TestZeroValues(t *testing.T) {
	texts := zeroTexts()
	for name, text := range texts {
		require.Equal(t, text[1], text[0], name)
	}
	m, err := thisModule()
	require.NoError(t, err)
	for _, p := range m.packages {
		if !p.public() {
			continue
		}
		for _, name := range p.types.Scope().Names() {
			obj, ok := p.types.Scope().Lookup(name).(*types.TypeName)
			if !ok || !obj.Exported() || obj.IsAlias() || types.IsInterface(obj.Type()) {
				continue
			}
			if method, _, _ := types.LookupFieldOrMethod(types.NewPointer(obj.Type()), false, p.types, "String"); method != nil {
				require.Contains(t, texts, p.rel+"."+name, "say what the zero value prints")
			}
		}
	}
}
