package cloudprovidertest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// plain returns a provider without a single ability, and whose cloud does nothing
// out of the ordinary.
func plain(t testing.TB) *cloudprovidertest.Harness {
	pool := &v1.NodePool{}
	pool.Name = "general"
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "FakeNodeClass", Name: "default"}
	cloud := newCloud(t, fake.Options{})
	return &cloudprovidertest.Harness{Provider: struct{ cloudprovider.CloudProvider }{cloud}, Pool: pool, Patience: 1}
}

func TestPlainProvider(t *testing.T) {
	for _, r := range cloudprovidertest.Examine(t, plain) {
		require.Empty(t, r.Failures, "%s", r)
		require.Equal(t, len(r.Check.Needs) > 0, r.Skipped != "", "%s", r)
		for _, need := range r.Check.Needs {
			require.Contains(t, r.Skipped, need)
		}
	}
}

func TestChecks(t *testing.T) {
	names := map[string]bool{}
	for _, c := range cloudprovidertest.Checks() {
		require.False(t, names[c.Name], "%s is there twice", c.Name)
		names[c.Name] = true
		require.Regexp(t, regexp.MustCompile(`^[a-z]+/[a-z-]+$`), c.Name)
		require.True(t, strings.HasSuffix(c.Rule, "."), "%s: a rule is a sentence", c.Name)
		for _, need := range c.Needs {
			require.Regexp(t, regexp.MustCompile(`^(Harness|cloudprovider)\.[A-Z]\w+$`), need)
		}
	}
}

// TestTries checks that a provider which asks for one option at a time may name
// that one, if the harness says so.
func TestTries(t *testing.T) {
	one := refuse(func(req *cloudprovider.LaunchRequest, err error) error {
		if !errors.Is(err, cloudprovider.ErrInsufficientCapacity) {
			return err
		}
		return &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity,
			Offerings: []cloudprovider.OfferingKey{req.Options[0].Key()}}
	})
	for _, tries := range []int{0, 1} {
		for _, r := range cloudprovidertest.Examine(t, func(t testing.TB) *cloudprovidertest.Harness {
			h := twisted(one)(t)
			h.Tries = tries
			return h
		}) {
			require.Equal(t, tries == 0 && r.Check.Name == "stock/all", len(r.Failures) > 0, "%s", r)
		}
	}
}

// TestRemedies holds what a failure says about where the fault is and what to do.
func TestRemedies(t *testing.T) {
	for _, c := range []struct{ how, check, want, unwanted string }{
		{"a new token for each attempt", "token/lost", "send the token to the cloud as its client token", ""},
		{"looks first and launches then", "token/concurrent", "send the token to the cloud as its client token", ""},
		{"the order of a map", "catalog/stable", `first "example.com/turn`, "capacity cpu="},
		{"out of stock is just a failure", "stock/all", "an error of kind unknown", "Harness.Tries"},
	} {
		t.Run(c.how, func(t *testing.T) {
			i := slices.IndexFunc(brokenProviders(), func(b broken) bool { return b.how == c.how })
			require.GreaterOrEqual(t, i, 0)
			found := false
			for _, r := range cloudprovidertest.Examine(t, twisted(brokenProviders()[i].twist)) {
				if r.Check.Name != c.check {
					continue
				}
				found = true
				text := strings.Join(strings.Fields(strings.Join(r.Failures, " ")), " ")
				require.Contains(t, text, c.want)
				if c.unwanted != "" {
					require.NotContains(t, text, c.unwanted)
				}
				require.Len(t, slices.Compact(slices.Sorted(slices.Values(r.Failures))), len(r.Failures), "a sentence is said twice")
			}
			require.True(t, found)
		})
	}
}

// TestPrices checks that a cloud which is cheaper or dearer than others passes by its price
// list, and only by that.
func TestPrices(t *testing.T) {
	list := map[cloudprovider.OfferingKey]float64{}
	types, err := catalog()
	require.NoError(t, err)
	o := &types[0].Offerings[0]
	for factor, passes := range map[float64]bool{100: true, 1: false, 70: true} {
		list[o.Key(types[0].Name)] = o.Price * factor
		for _, r := range cloudprovidertest.Examine(t, func(t testing.TB) *cloudprovidertest.Harness {
			h := twisted(repriced(func(price *float64) { *price *= 100 }))(t)
			h.Prices = list
			return h
		}) {
			if r.Check.Name == "catalog/prices" {
				require.Equal(t, passes, r.Passed(), "%v: %s", factor, r)
			}
		}
	}
}

// TestRules holds the list of rules, which the documentation shows.
func TestRules(t *testing.T) {
	var b strings.Builder
	for _, c := range cloudprovidertest.Checks() {
		b.WriteString(c.Name)
		for _, need := range c.Needs {
			b.WriteString(", " + need[strings.IndexByte(need, '.')+1:])
		}
		line := "\n   "
		for word := range strings.SplitSeq(c.Rule, " ") {
			if len(line)+1+len(word) > 80 {
				b.WriteString(line)
				line = "\n   "
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	golden.Equal(t, b.String(), "rules.txt")
}

// TestPanic checks that a provider that panics fails the check, and the suite
// goes on.
func TestPanic(t *testing.T) {
	results := cloudprovidertest.Examine(t, func(t testing.TB) *cloudprovidertest.Harness {
		h := plain(t)
		h.Provider = struct{ cloudprovider.CloudProvider }{} // every method panics
		return h
	})
	require.Len(t, results, len(cloudprovidertest.Checks()))
	require.Contains(t, results[0].String(), "panic: runtime error")
	require.NotEmpty(t, results[len(results)-1].Skipped)
}

// TestIncompleteHarness checks that the author is told what is missing.
func TestIncompleteHarness(t *testing.T) {
	unreadable := plain(t).Pool
	unreadable.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "example.com/size", Operator: "Like"}}
	bare := plain(t)
	bare.Pool.Spec.Template.Spec.NodeClassRef = nil
	elsewhere := plain(t)
	elsewhere.Provider = away{elsewhere.Provider}
	for _, c := range []struct {
		harness *cloudprovidertest.Harness
		want    string
	}{
		{nil, "the harness is nil"},
		{&cloudprovidertest.Harness{}, "Harness.Provider: nil"},
		{&cloudprovidertest.Harness{}, "Harness.Pool: nil"},
		{&cloudprovidertest.Harness{Pool: &v1.NodePool{}}, "Harness.Pool: it has no name"},
		{bare, "spec.template.spec.nodeClassRef: nil; set it to"},
		{&cloudprovidertest.Harness{Pool: unreadable}, "spec.template.spec.requirements[0].operator"},
		{elsewhere, "name a node class that exists"},
		{&cloudprovidertest.Harness{Patience: -1}, "Harness.Patience: below zero"},
	} {
		tb := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			cloudprovidertest.Examine(tb, func(testing.TB) *cloudprovidertest.Harness { return c.harness })
		}()
		<-done
		require.Contains(t, tb.text, c.want)
		if c.harness == bare {
			golden.Equal(t, tb.text+"\n", "unfit.txt")
		}
	}
}

// away is a provider that does not know the node class.
type away struct{ cloudprovider.CloudProvider }

func (away) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return nil, &cloudprovider.Error{Op: "InstanceTypes", Kind: cloudprovider.KindNotFound}
}

// TestUnfitOnce checks that Run says once, and not for each check, that a harness is
// of no use. The test fails, so it runs in a process of its own.
func TestUnfitOnce(t *testing.T) {
	if os.Getenv("DOVETAIL_UNFIT") != "" {
		cloudprovidertest.Run(t, func(t testing.TB) *cloudprovidertest.Harness {
			h := plain(t)
			h.Pool.Spec.Template.Spec.NodeClassRef = nil
			return h
		})
		return
	}
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestUnfitOnce$", "-test.v")
	run.Env = append(os.Environ(), "DOVETAIL_UNFIT=1")
	out, err := run.CombinedOutput()
	require.Error(t, err, "%s", out)
	require.Equal(t, 1, strings.Count(string(out), "--- FAIL"), "%s", out)
	require.Equal(t, 1, strings.Count(string(out), "nodeClassRef: nil"), "%s", out)
	require.NotContains(t, string(out), "=== RUN   TestUnfitOnce/catalog/sorted")
}

// TestNothingIsLeft checks that what a check launches is deleted at its end.
func TestNothingIsLeft(t *testing.T) {
	var clouds []*fake.Cloud
	cloudprovidertest.Examine(t, func(t testing.TB) *cloudprovidertest.Harness {
		return over(t, fake.Options{}, func(cloud, neighbor *fake.Cloud) cloudprovider.CloudProvider {
			clouds = append(clouds, cloud, neighbor)
			return cloud
		})
	})
	launched := 0
	for _, cloud := range clouds {
		list, err := cloud.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, list)
		launched += cloud.Stats().Launched
	}
	require.Greater(t, launched, len(cloudprovidertest.Checks()))
}
