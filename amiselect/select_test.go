package amiselect_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

func TestSelectTerms(t *testing.T) {
	foreign := mine("ami-f", "web-9", "x86_64", "2024-08-30", "env", "prod")
	foreign.OwnerID = "999988887777"
	market := mine("ami-m", "web-8", "x86_64", "2024-08-29")
	market.OwnerID, market.OwnerAlias = "679593333241", "aws-marketplace"
	old := mine("ami-old", "old", "x86_64", "2024-08-31", "env", "old")
	old.DeprecationTime = date("2024-08-31")
	pending := mine("ami-p", "web-7", "x86_64", "2024-08-31")
	pending.State = "pending"
	images := []amiselect.Image{
		mine("ami-1", "web-1", "x86_64", "2024-01-01", "env", "prod", "ci", ""),
		mine("ami-2", "web-2", "x86_64", "2024-02-01", "env", "stage"),
		mine("ami-3", "web-1-arm", "arm64", "2024-01-15", "env", "prod"),
		mine("ami-4", "web-3-mac", "x86_64_mac", "2024-03-01", "env", "prod"),
		mine("ami-5", "none", "", "2024-03-01", "env", "odd"),
		amazons("ami-a", "web-amazon", "x86_64", "2024-02-15"),
		foreign, market, old, pending,
	}
	type tags = map[string]string
	type terms = []amiselect.Term
	for _, tt := range []struct {
		name  string
		terms terms
		want  []string
		fault string
	}{
		{"by id, whoever owns it", terms{{ID: "ami-f"}}, []string{"ami-f"}, ""},
		{"two ids of one architecture collapse to the newest", terms{{ID: "ami-1"}, {ID: "ami-2"}}, []string{"ami-2"}, ""},
		{"two ids of two architectures", terms{{ID: "ami-1"}, {ID: "ami-3"}}, []string{"ami-3", "ami-1"}, ""},
		{"by name: owners self and amazon", terms{{Name: "web-*"}}, []string{"ami-a", "ami-3"}, ""},
		{"by exact name", terms{{Name: "web-1"}}, []string{"ami-1"}, ""},
		{"by name of self", terms{{Name: "web-*", Owner: "self"}}, []string{"ami-2", "ami-3"}, ""},
		{"by name of an account", terms{{Name: "web-*", Owner: "999988887777"}}, []string{"ami-f"}, ""},
		{"by name of the marketplace", terms{{Name: "web-?", Owner: "aws-marketplace"}}, []string{"ami-m"}, ""},
		{"by tags: all owners", terms{{Tags: tags{"env": "prod"}}}, []string{"ami-f", "ami-3"}, ""},
		{"by tags of an owner", terms{{Tags: tags{"env": "prod"}, Owner: "self"}}, []string{"ami-3", "ami-1"}, ""},
		{"by the existence of a tag, even if empty", terms{{Tags: tags{"ci": "*"}}}, []string{"ami-1"}, ""},
		{"by a pattern of a tag", terms{{Tags: tags{"env": "st*"}}}, []string{"ami-2"}, ""},
		{"fields are ANDed", terms{{Name: "web-*", Tags: tags{"env": "prod"}}}, []string{"ami-3", "ami-1"}, ""},
		{"terms are ORed", terms{{Name: "web-1"}, {Tags: tags{"env": "stage"}}, {ID: "ami-3"}}, []string{"ami-2", "ami-3"}, ""},
		{"deprecated images come last", terms{{ID: "ami-old"}, {ID: "ami-1"}}, []string{"ami-1"}, ""},
		{"but they come", terms{{Tags: tags{"env": "old"}}}, []string{"ami-old"}, ""},
		{"also in the list", terms{{ID: "ami-old"}, {ID: "ami-3"}}, []string{"ami-3", "ami-old"}, ""},
		{"images must be available", terms{{ID: "ami-p"}}, nil, `amiSelectorTerms[0] (id "ami-p"): 1 passed over, the first: ami-p (web-7) is in state pending, not available`},
		{"of an architecture of nodes", terms{{ID: "ami-4"}}, nil, "ami-4 (web-3-mac) has architecture x86_64_mac, nodes boot x86_64 or arm64"},
		{"and of a known one", terms{{ID: "ami-5"}}, nil, "has no architecture in its description"},
		{"nothing matches", terms{{Name: "x"}, {ID: "ami-99"}}, nil, `no image is selected: amiSelectorTerms[0] (name "x"): none of 10 images matches; amiSelectorTerms[1] (id "ami-99"): image ami-99 is not among the 10 found: it is gone, of another region, or not shared with this account`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := amiselect.Select(now, tt.terms, images, on(""))
			require.Equal(t, tt.want, ids(s))
			require.Equal(t, tt.want == nil, s.Empty())
			if tt.fault != "" {
				require.ErrorIs(t, err, amiselect.ErrNoImage)
				require.ErrorContains(t, err, tt.fault)
			}
		})
	}
}

func TestSelectFromNothing(t *testing.T) {
	_, err := amiselect.Select(now, []amiselect.Term{{ID: "ami-0abc"}, {Name: "x"}}, nil, on(""))
	require.EqualError(t, err, `no image is selected: amiSelectorTerms[0] (id "ami-0abc"): image ami-0abc was not found: `+
		`it is gone, of another region, or not shared with this account; amiSelectorTerms[1] (name "x"): no image was found`)
}

func TestSelectParameterTerms(t *testing.T) {
	images := []amiselect.Image{mine("ami-1", "a", "x86_64", "2024-01-01"), mine("ami-2", "b", "arm64", "2024-01-01")}
	terms := []amiselect.Term{{SSMParameter: "/a"}, {SSMParameter: "/b"}, {SSMParameter: "/none"}, {SSMParameter: "/odd"}}
	opts := &amiselect.Options{Environment: amiselect.Environment{Parameters: map[string]string{"/a": "ami-1", "/b": "ami-2", "/none": "", "/odd": "text"}}}
	require.Equal(t, []string{"ami-2", "ami-1"}, ids(mustSelect(t, terms, images, opts)))

	opts.Environment.Parameters["/gone"] = "ami-9"
	_, err := amiselect.Select(now, []amiselect.Term{{SSMParameter: "/none"}, {SSMParameter: "/odd"}, {SSMParameter: "/gone"}}, images, opts)
	require.EqualError(t, err, `no image is selected: amiSelectorTerms[0] (ssmParameter "/none"): there is no such parameter in this region, or it has no value; `+
		`amiSelectorTerms[1] (ssmParameter "/odd"): its value "text" is no image id; `+
		`amiSelectorTerms[2] (ssmParameter "/gone"): image ami-9 is not among the 2 found: it is gone, of another region, or not shared with this account`)

	// A parameter that was not read is not one that does not exist.
	delete(opts.Environment.Parameters, "/b")
	_, err = amiselect.Select(now, terms, images, opts)
	require.ErrorContains(t, err, "options.environment.parameters[/b]: Required value: amiSelectorTerms[1] needs its value; read it from SSM")
	_, err = amiselect.Select(now, terms[:1], images, nil)
	require.ErrorContains(t, err, "options.environment.parameters[/a]: Required value")
}

func TestSelectAlias(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807")
	images = append(images, al2023("1.30", "20240820")...)
	trap := mine("ami-trap", "amazon-eks-node-al2023-x86_64-standard-1.31-v20240831", "x86_64", "2024-08-31")
	trap.OwnerID = "666677778888" // not of Amazon
	images = append(images, trap)
	for text, release := range map[string]string{
		"al2023@latest": "20240807", "al2023@latest~1": "20240703", "al2023@v20240703": "20240703", "al2023@v20240807": "20240807",
	} {
		s := mustSelect(t, alias(text), images, on("1.31"))
		require.Len(t, s.Images(), 5)
		var got []string
		for _, m := range anyone {
			i, ok := s.For(m)
			require.True(t, ok)
			got = append(got, i.ID)
		}
		require.Equal(t, []string{"ami-x86std" + release, "ami-armstd" + release, "ami-x86nvidia" + release, "ami-armnvidia" + release, "ami-x86neuron" + release}, got, text)
	}
	_, err := amiselect.Select(now, alias("al2023@latest~2"), images, on("1.31"))
	require.ErrorIs(t, err, amiselect.ErrNoImage)
	_, err = amiselect.Select(now, alias("al2023@v20240807"), images, on("1.30"))
	require.ErrorIs(t, err, amiselect.ErrNoImage, "a release of another Kubernetes version")
	_, err = amiselect.Select(now, alias("al2@latest"), images, on("1.33"))
	require.ErrorIs(t, err, amiselect.ErrUnsupportedAlias)
}

func TestSelectOtherFamilies(t *testing.T) {
	images := []amiselect.Image{
		amazons("ami-std", "amazon-eks-node-1.31-v20240807", "x86_64", "2024-08-07"),
		amazons("ami-arm", "amazon-eks-arm64-node-1.31-v20240807", "arm64", "2024-08-07"),
		amazons("ami-gpu", "amazon-eks-gpu-node-1.31-v20240807", "x86_64", "2024-08-07"),
		amazons("ami-br", "bottlerocket-aws-k8s-1.31-x86_64-v1.20.4-b6163b2a", "x86_64", "2024-08-01"),
		amazons("ami-brold", "bottlerocket-aws-k8s-1.31-x86_64-v1.20.3-5d9ac849", "x86_64", "2024-07-01"),
		amazons("ami-brrebuilt", "bottlerocket-aws-k8s-1.31-x86_64-v1.20.4-00000001", "x86_64", "2024-08-03"),
		amazons("ami-brarm", "bottlerocket-aws-k8s-1.31-aarch64-v1.20.4-b6163b2a", "arm64", "2024-08-01"),
		amazons("ami-brnv", "bottlerocket-aws-k8s-1.31-nvidia-x86_64-v1.20.4-b6163b2a", "x86_64", "2024-08-01"),
		amazons("ami-win", "Windows_Server-2022-English-Core-EKS_Optimized-1.31-2024.08.13", "x86_64", "2024-08-13"),
		amazons("ami-winold", "Windows_Server-2022-English-Core-EKS_Optimized-1.31-2024.07.10", "x86_64", "2024-07-10"),
		amazons("ami-winfull", "Windows_Server-2022-English-Full-EKS_Optimized-1.31-2024.08.14", "x86_64", "2024-08-14"),
	}
	all := append(slices.Clone(anyone), win)
	for text, want := range map[string][]string{
		"al2@latest":                    {"ami-std", "ami-arm", "ami-gpu", "", "ami-gpu", "ami-std"},
		"bottlerocket@latest":           {"ami-brrebuilt", "ami-brarm", "ami-brnv", "", "ami-brrebuilt", "ami-brrebuilt"},
		"bottlerocket@latest~1":         {"ami-brold", "", "", "", "ami-brold", "ami-brold"},
		"bottlerocket@1.20.3":           {"ami-brold", "", "", "", "ami-brold", "ami-brold"},
		"bottlerocket@v1.20.4-b6163b2a": {"ami-br", "ami-brarm", "ami-brnv", "", "ami-br", "ami-br"},
		"windows2022@latest":            {"", "", "", "", "", "ami-win"},
		"windows2022@latest~1":          {"", "", "", "", "", "ami-winold"},
	} {
		s := mustSelect(t, alias(text), images, on("1.31"))
		for n, m := range all {
			i, ok := s.For(m)
			require.Equal(t, want[n], i.ID, "%s on %s", text, m.Name)
			require.Equal(t, want[n] != "", ok)
		}
	}
	var zero amiselect.Selection
	_, ok := zero.For(m5)
	require.False(t, ok)
	_, ok = mustSelect(t, alias("al2@latest"), images, on("1.31")).For(nil)
	require.False(t, ok)
}

// TestRequirementsOfVariants pins the requirement sets.
func TestRequirementsOfVariants(t *testing.T) {
	var got []string
	show := func(s amiselect.Selection) {
		for _, c := range s.Choices() {
			got = append(got, string(c.Variant)+": "+c.Requirements.String())
		}
	}
	show(mustSelect(t, alias("al2023@latest"), al2023("1.31", "20240807"), on("1.31")))
	show(mustSelect(t, alias("windows2022@latest"), []amiselect.Image{amazons("ami-win", "Windows_Server-2022-English-Core-EKS_Optimized-1.31-2024.08.13", "x86_64", "2024-08-13")}, on("1.31")))
	show(mustSelect(t, []amiselect.Term{{ID: "ami-1"}}, []amiselect.Image{mine("ami-1", "", "arm64", "2024-01-01")}, nil))
	require.Equal(t, []string{
		"standard: !karpenter.k8s.aws/instance-accelerator-count, !karpenter.k8s.aws/instance-gpu-count, kubernetes.io/arch = amd64",
		"nvidia: karpenter.k8s.aws/instance-gpu-count, kubernetes.io/arch = amd64",
		"neuron: karpenter.k8s.aws/instance-accelerator-count, kubernetes.io/arch = amd64",
		"standard: !karpenter.k8s.aws/instance-accelerator-count, !karpenter.k8s.aws/instance-gpu-count, kubernetes.io/arch = arm64",
		"nvidia: karpenter.k8s.aws/instance-gpu-count, kubernetes.io/arch = arm64",
		"windows: kubernetes.io/arch = amd64, kubernetes.io/os = windows, node.kubernetes.io/windows-build = 10.0.20348",
		": kubernetes.io/arch = arm64",
	}, got)
}

// parameters answers all queries of an alias from what it selects by name.
func parameters(t *testing.T, text string, images []amiselect.Image) map[string]string {
	queries, err := amiselect.Queries(alias(text), amiselect.Environment{KubernetesVersion: "1.31"})
	require.NoError(t, err)
	s := mustSelect(t, alias(text), images, on("1.31"))
	out := map[string]string{}
	for _, q := range queries {
		if q.Kind != amiselect.QueryParameter {
			continue
		}
		out[q.Parameter] = ""
		for _, c := range s.Choices() {
			if c.Image.Architecture == q.Architecture && slices.Contains(q.Variants, c.Variant) {
				out[q.Parameter] = c.Image.ID
			}
		}
	}
	return out
}

func TestSelectAliasByParameter(t *testing.T) {
	images := al2023("1.31", "20240605", "20240703", "20240807", "20240830")
	opts := on("1.31")
	// AWS recommends a release that is not the newest.
	opts.Environment.Parameters = parameters(t, "al2023@v20240807", images)
	pinned := opts.Environment.Parameters
	byLatest, err := amiselect.Queries(alias("al2023@latest"), amiselect.Environment{KubernetesVersion: "1.31"})
	require.NoError(t, err)
	byPin, err := amiselect.Queries(alias("al2023@v20240807"), amiselect.Environment{KubernetesVersion: "1.31"})
	require.NoError(t, err)
	latest := map[string]string{}
	for n := range byPin {
		latest[byLatest[n].Parameter] = pinned[byPin[n].Parameter]
	}
	require.Equal(t, "ami-x86std20240807", ids(mustSelect(t, alias("al2023@v20240807"), images, opts))[0])

	opts.Environment.Parameters = latest
	for text, want := range map[string]string{
		"al2023@latest": "ami-x86std20240807", "al2023@latest~1": "ami-x86std20240703", "al2023@latest~2": "ami-x86std20240605",
	} {
		i, _ := mustSelect(t, alias(text), images, opts).For(m5)
		require.Equal(t, want, i.ID)
	}
	// A bad recommendation falls back to what was before it, not to what is newer.
	opts.Deny = []string{"amazon-eks-node-al2023-*-v20240807"}
	i, _ := mustSelect(t, alias("al2023@latest"), images, opts).For(m5)
	require.Equal(t, "ami-x86std20240703", i.ID)
	opts.Deny = nil

	// A variant that AWS does not publish is left out; one that is not answered is
	// an error, and no reason to replace nodes.
	arm := byLatest[4].Parameter
	latest[arm] = ""
	s := mustSelect(t, alias("al2023@latest"), images, opts)
	_, ok := s.For(g5g)
	require.False(t, ok)
	delete(latest, arm)
	_, err = amiselect.Select(now, alias("al2023@latest"), images, opts)
	require.ErrorContains(t, err, "parameters["+arm+"]: Required value")
	// An image that was not fetched, or is of another architecture, is none.
	latest[arm] = "ami-gone"
	_, ok = mustSelect(t, alias("al2023@latest"), images, opts).For(g5g)
	require.False(t, ok)
	latest[arm] = "ami-x86std20240807"
	_, ok = mustSelect(t, alias("al2023@latest"), images, opts).For(g5g)
	require.False(t, ok)
}

func TestBakeTimeAndDenyList(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807", "20240828")
	images = append(images, mine("ami-new", "golden-2", "x86_64", "2024-08-30"), mine("ami-old", "golden-1", "x86_64", "2024-08-01"))
	golden := []amiselect.Term{{Name: "golden-*"}}
	for _, tt := range []struct {
		name   string
		terms  []amiselect.Term
		minAge time.Duration
		deny   []string
		want   string
	}{
		{"no rule", alias("al2023@latest"), 0, nil, "ami-x86std20240828"},
		{"too young", alias("al2023@latest"), 5 * 24 * time.Hour, nil, "ami-x86std20240807"},
		{"just old enough", alias("al2023@latest"), 4 * 24 * time.Hour, nil, "ami-x86std20240828"},
		{"an alias with a version is exempt", alias("al2023@v20240828"), 5 * 24 * time.Hour, nil, "ami-x86std20240828"},
		{"two releases back, both young", alias("al2023@latest"), 30 * 24 * time.Hour, nil, "ami-x86std20240703"},
		{"latest~1 counts those that are young", alias("al2023@latest~1"), 5 * 24 * time.Hour, nil, "ami-x86std20240807"},
		{"denied by id", alias("al2023@latest"), 0, []string{"ami-x86std20240828"}, "ami-x86std20240807"},
		{"denied by name", alias("al2023@latest"), 0, []string{"*-v20240828", "*-v20240807"}, "ami-x86std20240703"},
		{"a name that is too young", golden, 7 * 24 * time.Hour, nil, "ami-old"},
		{"an exact name is exempt", []amiselect.Term{{Name: "golden-2"}}, 7 * 24 * time.Hour, nil, "ami-new"},
		{"an id is exempt", []amiselect.Term{{ID: "ami-new"}, {Name: "golden-*"}}, 7 * 24 * time.Hour, nil, "ami-new"},
		{"an id is not exempt from the deny-list", []amiselect.Term{{ID: "ami-new"}, {ID: "ami-old"}}, 0, []string{"golden-2"}, "ami-old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := on("1.31")
			opts.MinAge, opts.Deny = tt.minAge, tt.deny
			i, ok := mustSelect(t, tt.terms, images, opts).For(m5)
			require.True(t, ok)
			require.Equal(t, tt.want, i.ID)
		})
	}
	opts := on("1.31")
	opts.MinAge, opts.Deny = 5*24*time.Hour, []string{"golden-1"}
	passed := mustSelect(t, []amiselect.Term{{Name: "golden-*"}, {ID: "ami-x86std20240703"}}, images, opts).PassedOver()
	require.Len(t, passed, 2)
	require.Equal(t, "ami-new (golden-2) is 2d old and must be 5d, which it is from 2024-09-04 00:00:00 UTC on", passed[0].Explanation.String())
	require.Equal(t, "ami-old (golden-1) is on the deny-list, by golden-1", passed[1].Explanation.String())
}

// TestImagesOfTheFuture decides for a time before some of the images were created.
func TestImagesOfTheFuture(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807", "20240828", "20240905", "20240912")
	images = append(images, mine("ami-new", "golden-2", "x86_64", "2024-09-02"), mine("ami-old", "golden-1", "x86_64", "2024-08-01"))
	recommended := map[string]string{}
	for _, i := range images {
		if arch, ok := strings.CutPrefix(i.Name, "amazon-eks-node-al2023-"); ok && strings.HasSuffix(i.Name, "-v20240912") {
			arch, line, _ := strings.Cut(strings.TrimSuffix(arch, "-1.31-v20240912"), "-")
			recommended["/aws/service/eks/optimized-ami/1.31/amazon-linux-2023/"+arch+"/"+line+"/recommended/image_id"] = i.ID
		}
	}
	for _, tt := range []struct {
		name       string
		terms      []amiselect.Term
		parameters map[string]string
		want       string
		passed     int // on the line of the standard image for x86_64
	}{
		{"an alias", alias("al2023@latest"), nil, "ami-x86std20240828", 2},
		{"an alias by parameters", alias("al2023@latest"), recommended, "ami-x86std20240828", 2},
		{"latest~1 counts releases up to now", alias("al2023@latest~1"), nil, "ami-x86std20240807", 2},
		{"latest~1 by parameters", alias("al2023@latest~1"), recommended, "ami-x86std20240807", 2},
		{"a pattern of names", []amiselect.Term{{Name: "golden-*"}}, nil, "ami-old", 0},
		{"an exact name is exempt", []amiselect.Term{{Name: "golden-2"}}, nil, "ami-new", 0},
		{"an alias with a version is exempt", alias("al2023@v20240905"), nil, "ami-x86std20240905", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := on("1.31")
			opts.Environment.Parameters = tt.parameters
			s := mustSelect(t, tt.terms, images, opts)
			i, ok := s.For(m5)
			require.True(t, ok)
			require.Equal(t, tt.want, i.ID)
			var passed []string
			for _, p := range s.PassedOver() {
				if strings.HasPrefix(p.Image.ID, "ami-x86std") {
					require.Equal(t, amiselect.CodeTooYoung, p.Explanation.Code)
					passed = append(passed, p.Explanation.String())
				}
			}
			require.Len(t, passed, tt.passed)
			if tt.passed > 0 {
				require.Equal(t, "ami-x86std20240912 (amazon-eks-node-al2023-x86_64-standard-1.31-v20240912) "+
					"was created at 2024-09-12 00:00:00 UTC, which is later than the time to decide for", passed[0])
				reason, _ := s.Drifted("ami-x86std20240905")
				require.Equal(t, amiselect.CodeTooYoung, reason.Code)
			}
		})
	}
	_, err := amiselect.Select(date("2024-07-01"), alias("al2023@latest"), images, on("1.31"))
	require.ErrorIs(t, err, amiselect.ErrNoImage)
	require.ErrorContains(t, err, "25 passed over, the first: ami-x86std20240912")
}

func TestSelectFaults(t *testing.T) {
	images := []amiselect.Image{
		{Name: "x", Created: now}, {ID: "ami-1"}, mine("ami-2", "a", "x86_64", "2024-01-01"), mine("ami-2", "b", "x86_64", "2024-01-01"), mine("ami-2", "a", "x86_64", "2024-01-01"),
	}
	_, err := amiselect.Select(now, []amiselect.Term{{}}, images, &amiselect.Options{MinAge: -1, Deny: []string{"", "ok-*", `\`}})
	for _, want := range []string{
		"amiSelectorTerms[0]: Required value",
		`options.minAge: Invalid value: "-1ns": must not be negative`,
		`options.deny[0]: Invalid value: "": is empty`, `options.deny[2]: Invalid value: "\\": ends in a single backslash`,
		`images[0]: has no id (name "x")`, "images[1]: ami-1 has no time of creation", "images[3]: ami-2 is listed before with other facts",
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "images[4]")
	_, err = amiselect.Select(now, []amiselect.Term{{Name: "x"}, {Tags: map[string]string{"a": "b"}, Owner: "self"}, {Name: "x", Owner: "amazon"}}, nil, nil)
	require.EqualError(t, err, "options.environment.account: Required value: amiSelectorTerms[0] selects images of owner self; give the account, or another owner\n"+
		"options.environment.account: Required value: amiSelectorTerms[1] selects images of owner self; give the account, or another owner")
}

// TestOrderOfImages: any order of the images gives the same answer, and neither
// images nor terms are changed.
func TestOrderOfImages(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807")
	images = append(images, al2023("1.30", "20240807")...)
	images = append(images, mine("ami-b", "same", "x86_64", "2024-08-01", "k", "v"), mine("ami-a", "same", "x86_64", "2024-08-01", "k", "v"))
	before := slices.Clone(images)
	for _, terms := range [][]amiselect.Term{alias("al2023@latest"), {{Tags: map[string]string{"k": "v"}}, {Name: "amazon-*"}}} {
		want := mustSelect(t, terms, images, on("1.31"))
		r := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			shuffled := slices.Clone(images)
			shuffled = append(shuffled, images[:3]...)
			r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			got := mustSelect(t, terms, shuffled, on("1.31"))
			require.Equal(t, want.Choices(), got.Choices())
			require.Equal(t, want.PassedOver(), got.PassedOver())
			for _, i := range images {
				x, _ := want.Drifted(i.ID)
				y, _ := got.Drifted(i.ID)
				require.Equal(t, x, y)
			}
		}
	}
	require.Equal(t, before, images)
	require.Equal(t, []string{"ami-a"}, ids(mustSelect(t, []amiselect.Term{{Tags: map[string]string{"k": "v"}}}, images, nil)))
}
