package cloudprovidertest_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// broken is a provider that breaks one rule, in a way in which providers do.
type broken struct {
	check string // the one that has to find it
	how   string
	twist func(*twist)
}

// brokenProviders has at least one for each check.
func brokenProviders() []broken {
	return slices.Concat(brokenCatalogs(), brokenCreates(), brokenTokens(), brokenInstances(), brokenLists(), brokenCalls(), brokenHealth(), brokenNotices())
}

// TestUntwisted checks that the harness of the broken providers passes every
// check, and skips none, as long as nothing is twisted.
func TestUntwisted(t *testing.T) {
	for _, r := range cloudprovidertest.Examine(t, twisted(nil)) {
		require.True(t, r.Passed(), "%s", r)
	}
}

// TestBroken checks that each check can fail, and finds no fault but its own.
func TestBroken(t *testing.T) {
	for _, b := range brokenProviders() {
		t.Run(b.check+": "+b.how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // where patience with what never comes takes no time
				for _, r := range cloudprovidertest.Examine(t, twisted(b.twist)) {
					if r.Check.Name == b.check {
						require.NotEmpty(t, r.Failures, "%s", r)
						require.Contains(t, strings.Join(strings.Fields(r.String()), " "), r.Check.Rule)
					} else {
						require.Empty(t, r.Failures, "%s", r)
					}
				}
			})
		})
	}
}

// TestEveryCheckCanFail checks that there is a broken provider for each check.
func TestEveryCheckCanFail(t *testing.T) {
	have := map[string]bool{}
	for _, b := range brokenProviders() {
		have[b.check] = true
	}
	for _, c := range cloudprovidertest.Checks() {
		require.True(t, have[c.Name], "no provider in brokenProviders fails %s", c.Name)
		delete(have, c.Name)
	}
	require.Empty(t, have, "there are no such checks")
}

// twisted opens a harness of a cloud in which machines take time to go down,
// with every hook.
func twisted(apply func(*twist)) func(testing.TB) *cloudprovidertest.Harness {
	return func(t testing.TB) *cloudprovidertest.Harness {
		w := &wire{}
		opts := fake.Options{Timing: fake.Timing{Launch: fake.Exactly(100 * time.Millisecond), Shutdown: fake.Exactly(time.Second)}}
		h := over(t, opts, func(cloud, neighbor *fake.Cloud) cloudprovider.CloudProvider {
			tw := newTwist(cloud, neighbor, w)
			if apply != nil {
				apply(tw)
			}
			if tw.withoutReboot {
				return struct {
					cloudprovider.CloudProvider
					cloudprovider.Repairer
					cloudprovider.NodeClassSupporter
				}{tw, tw, tw}
			}
			return tw
		})
		h.Hang, h.Patience = w.hang, 3*time.Second
		return h
	}
}

// TestForgottenClusterTag checks that the commonest reason for a machine that is not
// listed, or for one too many, is named.
func TestForgottenClusterTag(t *testing.T) {
	for check, text := range map[string]string{
		"list/complete": "the tag of the cluster is missing that List asks for",
		"list/ours":     "have Create tag each machine with the name of the cluster",
	} {
		forgetful := func(t *twist) { t.list = func(context.Context) ([]*cloudprovider.Instance, error) { return nil, nil } }
		if check == "list/ours" {
			forgetful = func(t *twist) {
				relisted(func(ctx context.Context, t *twist, l []*cloudprovider.Instance) []*cloudprovider.Instance {
					others, _ := t.neighbor.List(ctx)
					return append(l, others...)
				})(t)
			}
		}
		for _, r := range cloudprovidertest.Examine(t, twisted(forgetful)) {
			if r.Check.Name == check {
				require.Contains(t, strings.Join(strings.Fields(r.String()), " "), text)
			}
		}
	}
}

// TestAnotherTypeOfASmallCatalog checks that a provider which launches something else
// when all options are sold out is found also where options are few.
func TestAnotherTypeOfASmallCatalog(t *testing.T) {
	i := slices.IndexFunc(brokenProviders(), func(b broken) bool { return b.how == "another type when all are sold out" })
	require.GreaterOrEqual(t, i, 0)
	for _, r := range cloudprovidertest.Examine(t, func(t testing.TB) *cloudprovidertest.Harness {
		h := twisted(brokenProviders()[i].twist)(t)
		types, err := h.Provider.InstanceTypes(t.Context(), h.Pool)
		require.NoError(t, err)
		h.Only = requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, types[0].Name))
		return h
	}) {
		if r.Check.Name == "stock/all" {
			require.NotEmpty(t, r.Failures)
			require.Contains(t, r.Failures[0], "every option was out of stock")
		}
	}
}

// remembered makes Create remember in memory what it launched, and says of an ID
// whether it did.
func remembered(t *twist) func(id string) bool {
	var launched sync.Map
	t.create = func(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
		instance, err := t.Cloud.Create(ctx, req)
		if err == nil {
			launched.Store(instance.ID, true)
		}
		return instance, err
	}
	return func(id string) bool {
		_, found := launched.Load(id)
		return found
	}
}

// changed returns a copy of an instance with a change.
func changed(instance *cloudprovider.Instance, err error, change func(*cloudprovider.Instance)) (*cloudprovider.Instance, error) {
	if err != nil {
		return nil, err
	}
	other := *instance
	change(&other)
	return &other, nil
}

// unknown returns an error with the text of a failure and nothing else.
func unknown(err error) error {
	if err == nil {
		return nil
	}
	return &cloudprovider.Error{Op: "Call", Err: errorText(cmp.Or(err.Error(), "failed"))}
}

// errorText is an error that is nothing but its text.
type errorText string

func (e errorText) Error() string { return string(e) }

// TestFailureText holds the text of a failure, which the documentation shows.
func TestFailureText(t *testing.T) {
	i := slices.IndexFunc(brokenProviders(), func(b broken) bool { return b.how == "memory in MiB" })
	require.GreaterOrEqual(t, i, 0)
	for _, r := range cloudprovidertest.Examine(t, twisted(brokenProviders()[i].twist)) {
		if len(r.Failures) > 0 {
			golden.Equal(t, r.String()+"\n", "failure.txt")
		}
	}
}
