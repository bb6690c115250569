package traces

import (
	_ "embed"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// market returns a cloud of eight families in three zones, and of more. Spot prices change every
// ten minutes. Spot machines are reclaimed after lifetime in the mean; zero never reclaims them.
// With more families the largest types have 128 CPUs instead of 16.
func market(seed uint64, lifetime time.Duration, more ...string) (*fake.Cloud, error) {
	where := requirements.MustParse("karpenter.k8s.aws/instance-cpu < 17")
	if len(more) > 0 {
		where = requirements.MustParse("karpenter.k8s.aws/instance-cpu < 129")
	}
	types, err := catalog.New(&catalog.Options{
		Families: append([]string{"c6a", "c6i", "c7a", "m6a", "m6i", "m7a", "r6a", "r6i"}, more...),
		Where:    where,
		Zones:    []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1b"}, {Name: "us-east-1c"}},
	})
	if err != nil {
		return nil, err
	}
	return fake.New(&fake.Options{
		InstanceTypes: types,
		Now:           func() time.Time { return twodays.Start },
		Seed:          seed,
		Timing: fake.Timing{
			Launch:         fake.Span{Min: 20 * time.Second, Max: 40 * time.Second},
			Initialization: fake.Span{Min: 5 * time.Second, Max: 15 * time.Second},
			Shutdown:       fake.Exactly(30 * time.Second),
		},
		Unregistered: true,
		Spot:         fake.Spot{Every: 10 * time.Minute, Swing: 0.1, Lifetime: lifetime},
		Images:       []fake.Image{{ID: "image-1", Architecture: "x86_64", Created: twodays.Start.Add(-24 * time.Hour)}},
	})
}

//go:embed general.yaml
var generalManifest string

// generalPool returns a pool that uses spot and on-demand capacity, waits five minutes before it
// consolidates, and lets a tenth of its nodes be disrupted at once.
func generalPool() (*v1.NodePool, error) { return decoded(generalManifest) }

// decoded returns the pool of a manifest, with its defaults.
func decoded(manifest string) (*v1.NodePool, error) {
	pool, err := v1.DecodeNodePool([]byte(manifest))
	if err != nil {
		return nil, err
	}
	pool.Default()
	return pool, nil
}
