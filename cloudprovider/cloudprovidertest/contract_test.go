package cloudprovidertest_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
	"github.com/dovetail-sdk/dovetail/fake"
)

// TestContract is all the tests that a provider has to begin with.
func TestContract(t *testing.T) {
	cloudprovidertest.Run(t, func(t testing.TB) *cloudprovidertest.Harness {
		provider, err := fake.New(&fake.Options{ // in its place yours
			NodeClassKinds: []schema.GroupKind{{Group: "example.com", Kind: "PondNodeClass"}},
			NodeClasses:    []fake.NodeClass{{Name: "default"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		pool := &v1.NodePool{}
		pool.Name = "general"
		pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{ // required
			Group: "example.com", Kind: "PondNodeClass", Name: "default",
		}
		return &cloudprovidertest.Harness{
			Provider: provider,
			Pool:     pool,
			Advance:  func(d time.Duration) { provider.Advance(d) }, // without it the suite waits
		}
	})
}
