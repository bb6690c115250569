package launch_test

import (
	"fmt"
	"math/bits"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// option reads "m5.large/zone-a/spot 0.03", with words behind it: off, full,
// gpu, metal, or a label as in "arch=arm64".
func option(text string) cloudprovider.LaunchOption {
	words := strings.Fields(text)
	parts := strings.Split(words[0], "/")
	t := &cloudprovider.InstanceType{Name: parts[0]}
	family, _, _ := strings.Cut(parts[0], ".")
	labels := []requirements.Requirement{
		requirements.In(corev1.LabelInstanceTypeStable, parts[0]), requirements.In("family", family)}
	o := &cloudprovider.Offering{Zone: parts[1], CapacityType: parts[2], Available: true, ReservationCapacity: 1}
	if len(parts) > 3 {
		o.ReservationID = parts[3]
	}
	if _, err := fmt.Sscan(words[1], &o.Price); err != nil {
		panic(err)
	}
	size := "large"
	for _, word := range words[2:] {
		switch word {
		case "off":
			o.Available = false
		case "full":
			o.ReservationCapacity = 0
		case "gpu":
			t.Capacity = resources.MustParse("nvidia.com/gpu=1")
			labels = append(labels, requirements.In("gpu-name", "t4"))
		case "metal":
			size = "metal"
		default:
			key, value, _ := strings.Cut(word, "=")
			labels = append(labels, requirements.In(key, value))
		}
	}
	t.Requirements = requirements.NewSet(append(labels, requirements.In("size", size))...)
	return cloudprovider.LaunchOption{InstanceType: t, Offering: o}
}

func request(reqs string, options ...string) *cloudprovider.LaunchRequest {
	r := &cloudprovider.LaunchRequest{Requirements: requirements.MustParse(reqs)}
	for _, text := range options {
		r.Options = append(r.Options, option(text))
	}
	return r
}

// summary writes what is sent, and "key Reason" of what is not.
func summary(s launch.Selection) string {
	var lines []string
	for _, o := range s.Options {
		lines = append(lines, o.Key().String())
	}
	for _, d := range s.Dropped {
		lines = append(lines, d.Key.String()+" "+string(d.Reason))
	}
	for _, r := range s.Spared {
		lines = append(lines, "spared "+string(r))
	}
	for _, u := range s.Unmet {
		lines = append(lines, "unmet "+u.String())
	}
	return strings.Join(lines, "\n")
}

func TestSelect(t *testing.T) {
	metal := append(launch.DefaultExotic(), launch.Exotic{Name: "metal", Labels: requirements.MustParse("size = metal")},
		launch.Exotic{Name: "gpu", Labels: requirements.MustParse("gpu-name")})
	for _, test := range []struct {
		name string
		opts *launch.Options
		req  *cloudprovider.LaunchRequest
		want []string
	}{
		{"nothing", nil, &cloudprovider.LaunchRequest{}, []string{""}},
		{"cheapest first", nil, request("", "m5.large/b/spot 0.02", "c5.large/a/spot 0.01", "a1.large/a/spot 0.02"),
			[]string{"c5.large/a/spot", "a1.large/a/spot", "m5.large/b/spot"}},
		{"not to be had", nil, request("", "m5.large/a/spot 0.02 off", "m5.large/a/reserved/cr-1 0.01 full", "m5.large/b/spot 0.02", "m5.large/b/spot 0.03"),
			[]string{"m5.large/b/spot", "m5.large/a/reserved/cr-1 Unlaunchable", "m5.large/a/spot Unlaunchable", "m5.large/b/spot Duplicate"}},
		{"dear spot", nil, request("", "m5.large/a/spot 0.12", "m5.large/a/on-demand 0.1", "m5.large/b/spot 0.1", "c5.large/a/on-demand 0.2"),
			[]string{"m5.large/a/on-demand", "m5.large/b/spot", "c5.large/a/on-demand", "m5.large/a/spot DearSpot"}},
		{"dear spot without on-demand", nil, request("", "m5.large/a/spot 0.12", "m5.large/a/reserved/cr-1 0.01"),
			[]string{"m5.large/a/reserved/cr-1", "m5.large/a/spot"}},
		{"dear spot is wanted", &launch.Options{KeepDearSpot: true}, request("", "m5.large/a/spot 0.12", "m5.large/a/on-demand 0.1"),
			[]string{"m5.large/a/on-demand", "m5.large/a/spot"}},
		{"dear spot is needed", nil, request("family minvalues 2", "m5.large/a/on-demand 0.1", "c5.large/a/spot 0.2"),
			[]string{"m5.large/a/on-demand", "c5.large/a/spot", "spared DearSpot"}},
		{"dear spot would not help", nil, request("family minvalues 3", "m5.large/a/on-demand 0.1", "c5.large/a/spot 0.2"),
			[]string{"m5.large/a/on-demand", "c5.large/a/spot DearSpot", "unmet family: 1 of 3 values"}},
		{"one capacity type", &launch.Options{OneCapacityType: true},
			request("", "m5.large/a/on-demand 0.1", "m5.large/a/spot 0.05", "c5.large/a/spot 0.06"),
			[]string{"m5.large/a/spot", "c5.large/a/spot", "m5.large/a/on-demand OtherCapacityType"}},
		{"one capacity type by preference", &launch.Options{OneCapacityType: true, Prefer: []string{"on-demand"}},
			request("", "m5.large/a/on-demand 0.1", "m5.large/a/spot 0.05", "c5.large/a/zeta 0.01"),
			[]string{"m5.large/a/on-demand", "c5.large/a/zeta OtherCapacityType", "m5.large/a/spot OtherCapacityType"}},
		{"one capacity type that has the values", &launch.Options{OneCapacityType: true},
			request("family minvalues 2", "m5.large/a/on-demand 0.1", "c5.large/a/on-demand 0.1", "m5.large/a/spot 0.05"),
			[]string{"c5.large/a/on-demand", "m5.large/a/on-demand", "m5.large/a/spot OtherCapacityType"}},
		{"exotic last", &launch.Options{Exotic: metal}, request("", "m5.metal/a/spot 0.01 metal", "g4.large/a/spot 0.02 gpu", "m5.large/a/spot 0.03"),
			[]string{"m5.large/a/spot", "m5.metal/a/spot", "g4.large/a/spot"}},
		{"exotic dropped", &launch.Options{Exotic: metal, DropExotic: true},
			request("", "m5.metal/a/spot 0.01 metal", "g4.large/a/spot 0.02 gpu", "m5.large/a/spot 0.03"),
			[]string{"m5.large/a/spot", "m5.metal/a/spot OutOfTheOrdinary", "g4.large/a/spot OutOfTheOrdinary"}},
		{"exotic is all there is", &launch.Options{DropExotic: true}, request("", "g4.large/a/spot 0.02 gpu"), []string{"g4.large/a/spot"}},
		{"exotic is needed", &launch.Options{DropExotic: true}, request("family minvalues 2", "g4.large/a/spot 0.02 gpu", "m5.large/a/spot 0.03"),
			[]string{"m5.large/a/spot", "g4.large/a/spot", "spared OutOfTheOrdinary"}},
		{"metal asked for by value", &launch.Options{Exotic: metal}, request("size in (metal, large)", "m5.metal/a/spot 0.01 metal", "m5.large/a/spot 0.03"),
			[]string{"m5.metal/a/spot", "m5.large/a/spot"}},
		{"naming the label is not asking", &launch.Options{Exotic: metal}, request("size notin (nano)", "m5.metal/a/spot 0.01 metal", "m5.large/a/spot 0.03"),
			[]string{"m5.large/a/spot", "m5.metal/a/spot"}},
		{"gpu asked for by label", &launch.Options{Exotic: metal[len(metal)-1:]}, request("gpu-name", "g4.large/a/spot 0.01 gpu", "m5.large/a/spot 0.03"),
			[]string{"g4.large/a/spot", "m5.large/a/spot"}},
		{"gpu not wanted by label", &launch.Options{Exotic: metal[len(metal)-1:]}, request("!gpu-name", "g4.large/a/spot 0.01 gpu", "m5.large/a/spot 0.03"),
			[]string{"m5.large/a/spot", "g4.large/a/spot"}},
		{"nothing is exotic", &launch.Options{Exotic: []launch.Exotic{}}, request("", "g4.large/a/spot 0.01 gpu", "m5.large/a/spot 0.03"),
			[]string{"g4.large/a/spot", "m5.large/a/spot"}},
		{"the limit counts types", &launch.Options{Limit: 2}, request("", "a.l/a/spot 0.01", "a.l/b/spot 0.09", "b.l/a/spot 0.02", "c.l/a/spot 0.03"),
			[]string{"a.l/a/spot", "b.l/a/spot", "a.l/b/spot", "c.l/a/spot BeyondLimit"}},
		{"the limit keeps minValues", &launch.Options{Limit: 2},
			request("family minvalues 2", "m5.large/a/spot 0.01", "m5.xlarge/a/spot 0.02", "m5.2xlarge/a/spot 0.03", "c5.large/a/spot 0.04", "r5.large/a/spot 0.05"),
			[]string{"m5.large/a/spot", "c5.large/a/spot", "m5.xlarge/a/spot BeyondLimit", "m5.2xlarge/a/spot BeyondLimit", "r5.large/a/spot BeyondLimit"}},
		{"values that are not admitted do not count", &launch.Options{Limit: 2},
			request("family notin (c5) minvalues 2", "m5.large/a/spot 0.01", "m5.xlarge/a/spot 0.02", "c5.large/a/spot 0.04", "r5.large/a/spot 0.05"),
			[]string{"m5.large/a/spot", "r5.large/a/spot", "m5.xlarge/a/spot BeyondLimit", "c5.large/a/spot BeyondLimit"}},
		{"two minimums", &launch.Options{Limit: 2},
			request("family minvalues 2, arch minvalues 2", "m5.large/a/spot 0.01 arch=amd64", "m5.xlarge/a/spot 0.02 arch=amd64",
				"c5.large/a/spot 0.03 arch=amd64", "m6g.large/a/spot 0.05 arch=arm64"),
			[]string{"m5.large/a/spot", "m6g.large/a/spot", "m5.xlarge/a/spot BeyondLimit", "c5.large/a/spot BeyondLimit"}},
		{"minValues that cannot be met", &launch.Options{Limit: 2}, request("family minvalues 3, arch minvalues 1", "m5.large/a/spot 0.01", "c5.xlarge/a/spot 0.02", "r5.large/a/spot 0.03"),
			[]string{"m5.large/a/spot", "c5.xlarge/a/spot", "r5.large/a/spot BeyondLimit", "unmet arch: 0 of 1 values", "unmet family: 2 of 3 values"}},
		{"exotic goes first at the limit", &launch.Options{Limit: 1}, request("", "g4.large/a/spot 0.01 gpu", "m5.large/a/spot 0.03"),
			[]string{"m5.large/a/spot", "g4.large/a/spot BeyondLimit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, strings.Join(test.want, "\n"), summary(launch.Select(test.req, test.opts)))
		})
	}
}

func TestResourceAsksForExotic(t *testing.T) {
	r := request("", "g4.large/a/spot 0.01 gpu", "m5.large/a/spot 0.03")
	r.Requests = resources.MustParse("nvidia.com/gpu=0")
	require.Equal(t, "m5.large", launch.Select(r, nil).Options[0].InstanceType.Name)
	r.Requests = resources.MustParse("nvidia.com/gpu=1")
	require.Equal(t, "g4.large", launch.Select(r, nil).Options[0].InstanceType.Name)
}

func TestBrokenInput(t *testing.T) {
	require.Empty(t, launch.Select(nil, nil))
	o := option("m5.large/a/spot 1")
	s := launch.Select(&cloudprovider.LaunchRequest{Options: []cloudprovider.LaunchOption{
		{}, {InstanceType: o.InstanceType}, {Offering: o.Offering}, o}}, nil)
	require.Len(t, s.Options, 1)
	var dropped []string
	for _, d := range s.Dropped {
		dropped = append(dropped, d.String())
	}
	require.Equal(t, []string{"?/?/?: instance type and offering are nil; set both", "?/a/spot: the instance type is nil; set both",
		"m5.large/?/?: the offering is nil; set both"}, dropped)
}

func TestDefaultLimit(t *testing.T) {
	r := &cloudprovider.LaunchRequest{}
	for i := range 70 {
		r.Options = append(r.Options, option(fmt.Sprintf("t%02d.l/a/spot %d", i, i+1)))
	}
	s := launch.Select(r, nil)
	require.Len(t, s.Options, 60)
	require.Equal(t, "t59.l", s.Options[59].InstanceType.Name)
	require.Equal(t, "60 options of 60 instance types\n10 dropped for BeyondLimit, as t60.l/a/spot: beyond the 60 instance types of one call, of 70", s.String())
}

// Over random requests: the order of options does not count; every option is
// sent or dropped, once; the limit holds; what is sent is in order; a minimum
// that the whole could meet and one exchange can repair holds; and of what can
// be launched, the cheapest ordinary option is always sent if there are no
// minimums.
func TestLaws(t *testing.T) {
	for seed := range int64(500) {
		random := rand.New(rand.NewSource(seed))
		var texts []string
		seen := map[string]bool{}
		for range 1 + random.Intn(25) {
			word := []string{"", "", "", " gpu", " off", " metal", " arch=arm64", " arch=amd64"}[random.Intn(8)]
			name := fmt.Sprintf("f%d.s%d", random.Intn(4), random.Intn(4))
			key := fmt.Sprintf("%s/z%d/%s", name, random.Intn(2), []string{"spot", "on-demand"}[random.Intn(2)])
			if !seen[key] {
				seen[key] = true
				texts = append(texts, fmt.Sprintf("%s 0.%d%s", key, 1+random.Intn(9), word))
			}
		}
		reqs := []string{"", "family minvalues 2", "family minvalues 2, arch minvalues 2", "node.kubernetes.io/instance-type minvalues 3"}[random.Intn(4)]
		opts := &launch.Options{Limit: 1 + random.Intn(6), OneCapacityType: random.Intn(3) == 0, DropExotic: random.Intn(2) == 0, KeepDearSpot: random.Intn(2) == 0}
		r := request(reqs, texts...)
		s := launch.Select(r, opts)
		require.Equal(t, len(texts), len(s.Options)+len(s.Dropped))
		shuffled := *r
		shuffled.Options = slices.Clone(r.Options)
		random.Shuffle(len(shuffled.Options), func(i, j int) {
			shuffled.Options[i], shuffled.Options[j] = shuffled.Options[j], shuffled.Options[i]
		})
		require.Equal(t, s, launch.Select(&shuffled, opts))
		types := map[string]bool{}
		values := map[string]bool{}
		for _, o := range s.Options {
			require.True(t, o.Offering.Launchable())
			types[o.InstanceType.Name] = true
			family, _, _ := strings.Cut(o.InstanceType.Name, ".")
			values[family] = true
		}
		require.LessOrEqual(t, len(types), opts.Limit)
		if reqs == "" && len(s.Options) > 0 && !opts.OneCapacityType {
			for _, d := range s.Dropped {
				if d.Reason == launch.BeyondLimit {
					require.Len(t, types, opts.Limit)
				}
			}
		}
		if reqs == "family minvalues 2" {
			require.Equal(t, len(values) < 2, len(s.Unmet) == 1)
			all := map[string]bool{}
			for i, o := range r.Options {
				other := slices.ContainsFunc(s.Dropped, func(d launch.Dropped) bool {
					return d.Key == r.Options[i].Key() && d.Reason == launch.OtherCapacityType
				})
				if family, _, _ := strings.Cut(o.InstanceType.Name, "."); o.Offering.Launchable() && !other {
					all[family] = true
				}
			}
			require.Equal(t, len(all) >= 2 && opts.Limit >= 2, len(values) >= 2, "%s", s)
		}
	}
}

// Against all subsets: minimums are met if and only if some set of types within
// the limit meets them.
func TestLawMinimumsAreMet(t *testing.T) {
	for seed := range int64(1500) {
		random := rand.New(rand.NewSource(seed))
		needs := []int{1 + random.Intn(3), 2, 1 + random.Intn(3)}
		r := request(fmt.Sprintf("arch minvalues %d, color minvalues %d, family minvalues %d", needs[0], needs[1], needs[2]))
		limit := 2 + random.Intn(3)
		var values [][3]int
		for i := range 4 + random.Intn(7) {
			v := [3]int{random.Intn(4), random.Intn(2), random.Intn(4)}
			values = append(values, v)
			r.Options = append(r.Options, option(fmt.Sprintf("f%d.s%d/a/spot %d arch=a%d color=c%d", v[2], i, i+1, v[0], v[1])))
		}
		possible := false
		for set := range 1 << len(values) {
			have := [3]map[int]bool{{}, {}, {}}
			for i, v := range values {
				for k := range v {
					if set>>i&1 == 1 {
						have[k][v[k]] = true
					}
				}
			}
			if bits.OnesCount(uint(set)) <= limit && len(have[0]) >= needs[0] && len(have[1]) >= needs[1] && len(have[2]) >= needs[2] {
				possible = true
			}
		}
		s := launch.Select(r, &launch.Options{Limit: limit})
		require.Equal(t, possible, len(s.Unmet) == 0, "seed %d\n%s", seed, s)
		require.LessOrEqual(t, len(s.Options), limit)
	}
}
