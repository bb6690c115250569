package drift_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/drift"
)

// class is a node class.
type class struct {
	Image string            `json:"image,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
}

func hash(c class) string {
	return fmt.Sprint(c.Image, c.Tags)
}

func scheme() drift.Scheme[class] {
	return drift.Scheme[class]{HashKey: "example.com/hash", VersionKey: "example.com/hash-version", Version: "v2", Hash: hash}
}

func claim(name, hash, version string, conditions ...string) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"other": "kept"}}}
	if hash != "" {
		c.Annotations["example.com/hash"] = hash
	}
	if version != "" {
		c.Annotations["example.com/hash-version"] = version
	}
	for _, t := range conditions {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: t})
	}
	return c
}

func TestCompare(t *testing.T) {
	now := class{Image: "a"}
	other := scheme()
	other.Hash, other.Reason = func(c class) string { return "new-" + c.Image }, "Changed"
	for _, test := range []struct {
		name   string
		scheme drift.Scheme[class]
		claim  *v1.NodeClaim
		want   drift.Verdict
	}{
		{"same", scheme(), claim("c", hash(now), "v2"), drift.Same},
		{"differs", scheme(), claim("c", hash(class{}), "v2"), drift.Drifted},
		{"no annotations", scheme(), &v1.NodeClaim{}, drift.NotComparable},
		{"no hash", scheme(), claim("c", "", "v2"), drift.NotComparable},
		{"no version", scheme(), claim("c", "1", ""), drift.NotComparable},
		{"another version", scheme(), claim("c", "1", "v1"), drift.NotComparable},
		{"nil", scheme(), nil, drift.NotComparable},
		{"another reason, same", other, claim("c", "new-a", "v2"), drift.Same},
		{"another reason", other, claim("c", "new-b", "v2"), drift.Drifted},
	} {
		t.Run(test.name, func(t *testing.T) {
			verdict, d := test.scheme.Compare(now, test.claim)
			require.Equal(t, test.want, verdict)
			require.Equal(t, test.want == drift.Drifted, d != cloudprovider.Drift{})
			switch {
			case test.want != drift.Drifted:
			case test.scheme.Reason == "":
				require.Equal(t, drift.DefaultReason, d.Reason)
			default:
				require.Equal(t, cloudprovider.Drift{Reason: "Changed",
					Detail: "the node class has hash new-a, the machine was launched with new-b (version v2)"}, d)
			}
		})
	}
}

func TestMigrate(t *testing.T) {
	now := class{Image: "a"}
	present := scheme().Annotations(now)
	versionOnly := map[string]string{"example.com/hash-version": "v2"}
	for _, test := range []struct {
		name   string
		scheme drift.Scheme[class]
		stored map[string]string
		claims []*v1.NodeClaim
		want   drift.Migration
	}{
		{"up to date", scheme(), present, []*v1.NodeClaim{claim("a", "1", "v2"), claim("b", hash(now), "v2")}, drift.Migration{}},
		{"a new class", scheme(), nil, nil, drift.Migration{Class: present}},
		{"the class changed", scheme(), scheme().Annotations(class{}), []*v1.NodeClaim{claim("a", hash(class{}), "v2")},
			drift.Migration{Class: present}},
		{"a new version", scheme(), map[string]string{"example.com/hash": "1", "example.com/hash-version": "v1"},
			[]*v1.NodeClaim{claim("c", "1", "v1"), nil, claim("b", "1", "v1", v1.ConditionTypeDrifted), claim("a", "9", "v0"),
				claim("x", "", "v1"), claim("y", "1", "")},
			drift.Migration{Class: present, Claims: []drift.Change{
				{Claim: "a", Annotations: present}, {Claim: "b", Annotations: versionOnly}, {Claim: "c", Annotations: present}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.scheme.Migrate(now, test.stored, test.claims)
			require.Equal(t, test.want, got)

			// Once written, there is nothing left to write, and nothing that
			// was not drifted is.
			stored := test.stored
			if got.Class != nil {
				stored = got.Class
			}
			var after []*v1.NodeClaim
			for _, c := range test.claims {
				if c == nil {
					continue
				}
				written := c.DeepCopy()
				for _, change := range got.Claims {
					if change.Claim == c.Name {
						for k, v := range change.Annotations {
							written.Annotations[k] = v
						}
					}
				}
				before, _ := test.scheme.Compare(now, c)
				verdict, _ := test.scheme.Compare(now, written)
				if before == drift.Same {
					require.Equal(t, drift.Same, verdict)
				}
				if before == drift.Drifted {
					require.Equal(t, drift.Drifted, verdict)
				}
				after = append(after, written)
			}
			require.Empty(t, test.scheme.Migrate(now, stored, after).Claims)
			require.Nil(t, test.scheme.Migrate(now, stored, after).Class)
		})
	}
}

func Example() {
	scheme := drift.Scheme[class]{
		HashKey: "example.com/class-hash", VersionKey: "example.com/class-hash-version", Version: "v1",
		Hash: func(c class) string { return "image=" + c.Image },
	}
	launched := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Annotations: scheme.Annotations(class{Image: "img-1"})}}
	for _, image := range []string{"img-1", "img-2"} {
		verdict, d := scheme.Compare(class{Image: image}, launched)
		fmt.Printf("%s: %q\n", verdict, d.Detail)
	}

	// A later release hashes in another way.
	scheme.Version = "v2"
	scheme.Hash = func(c class) string { return fmt.Sprintf("image=%s,tags=%d", c.Image, len(c.Tags)) }
	now := class{Image: "img-1"}
	for _, change := range scheme.Migrate(now, nil, []*v1.NodeClaim{launched}).Claims {
		fmt.Println(change.Claim, change.Annotations)
	}
	// Output:
	// Same: ""
	// Drifted: "the node class has hash image=img-2, the machine was launched with image=img-1 (version v1)"
	// web-1 map[example.com/class-hash:image=img-1,tags=0 example.com/class-hash-version:v2]
}

func ExampleScheme_Compare() {
	s := scheme()
	verdict, _ := s.Compare(class{}, &v1.NodeClaim{})
	fmt.Println(verdict)
	// Output:
	// NotComparable
}
