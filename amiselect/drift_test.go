package amiselect_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

func TestDriftedTerms(t *testing.T) {
	deprecated := mine("ami-dep", "web-dep", "x86_64", "2024-08-20", "env", "prod")
	deprecated.DeprecationTime = date("2024-08-25")
	failed := mine("ami-fail", "web-f", "x86_64", "2024-08-20", "env", "prod")
	failed.State = "failed"
	images := []amiselect.Image{
		mine("ami-1", "web-1", "x86_64", "2024-07-01", "env", "prod"),
		mine("ami-2", "web-2", "x86_64", "2024-08-01", "env", "prod"),
		mine("ami-3", "web-2b", "x86_64", "2024-08-01", "env", "prod"),
		mine("ami-y", "web-3", "x86_64", "2024-08-31", "env", "prod"),
		mine("ami-bad", "web-bad", "x86_64", "2024-08-15", "env", "prod"),
		mine("ami-t", "web-t", "x86_64", "2024-08-15", "env", "test"),
		mine("ami-n", "db", "x86_64", "2024-08-15", "env", "prod"),
		mine("ami-u", "web-u", "arm64", "2024-08-15"),
		mine("ami-mac", "web-mac", "arm64_mac", "2024-08-15"),
		amazons("ami-a", "web-a", "x86_64", "2024-08-15"),
		deprecated, failed,
	}
	opts := &amiselect.Options{MinAge: 7 * 24 * time.Hour, Deny: []string{"ami-bad"}, Environment: amiselect.Environment{Account: account}}
	terms := []amiselect.Term{{Name: "web-*", Owner: "self", Tags: map[string]string{"env": "prod"}}}
	s := mustSelect(t, terms, images, opts)
	require.Equal(t, []string{"ami-3"}, ids(s))
	for id, want := range map[string]struct {
		code amiselect.Code
		text string
	}{
		"ami-1":    {"Superseded", "ami-1 (web-1) is of 2024-07-01, and there is a newer one of 2024-08-01; ami-3 (web-2b) takes its place"},
		"ami-2":    {"Superseded", "ami-2 (web-2) was created at the same time as another, whose name comes later or whose id comes first; ami-3 (web-2b) takes its place"},
		"ami-y":    {"TooYoung", "ami-y (web-3) is 24h old and must be 7d, which it is from 2024-09-07 00:00:00 UTC on; ami-3 (web-2b) takes its place"},
		"ami-bad":  {"Denied", "ami-bad (web-bad) is on the deny-list, by ami-bad"},
		"ami-t":    {"NotSelected", `ami-t (web-t) is not selected: amiSelectorTerms[0] wants tag env=prod, which is "test"; ami-3 (web-2b) takes its place`},
		"ami-n":    {"NotSelected", `ami-n (db) is not selected: amiSelectorTerms[0] wants name "web-*"; ami-3 (web-2b) takes its place`},
		"ami-u":    {"NotSelected", "ami-u (web-u) is not selected: amiSelectorTerms[0] wants tag env, which it does not have"},
		"ami-mac":  {"Architecture", "ami-mac (web-mac) has architecture arm64_mac, nodes boot x86_64 or arm64"},
		"ami-a":    {"NotSelected", "ami-a (web-a) is not selected: amiSelectorTerms[0] wants owner self; ami-3 (web-2b) takes its place"},
		"ami-dep":  {"Deprecated", "ami-dep (web-dep) is deprecated since 2024-08-25; ami-3 (web-2b) takes its place"},
		"ami-fail": {"Unavailable", "ami-fail (web-f) is in state failed, not available"},
		"ami-x":    {"Gone", "ami-x is not among the images found: its owner removed it, or nothing asks for it any more"},
	} {
		reason, drifted := s.Drifted(id)
		require.True(t, drifted, id)
		require.Equal(t, want.code, reason.Code, id)
		require.Equal(t, want.text, reason.String())
	}
	reason, drifted := s.Drifted("ami-3")
	require.False(t, drifted)
	require.Zero(t, reason)

	// Terms by id and parameter, and more of them than one wants to read.
	many := []amiselect.Term{{ID: "ami-1"}, {SSMParameter: "/p"}, {SSMParameter: "/none"}, {ID: "ami-x"}, {ID: "ami-y"}}
	s = mustSelect(t, many, images, &amiselect.Options{Environment: amiselect.Environment{Parameters: map[string]string{"/p": "ami-2", "/none": ""}}})
	reason, _ = s.Drifted("ami-3")
	require.Equal(t, "ami-3 (web-2b) is not selected: amiSelectorTerms[0] wants ami-1, amiSelectorTerms[1] has a parameter that names ami-2, "+
		"amiSelectorTerms[2] has a parameter that names no image, and 2 more; ami-y (web-3) takes its place", reason.String())
	require.Equal(t, -1, reason.Term)
}

func TestDriftedAlias(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807", "20240830")
	images = append(images, al2023("1.30", "20240807")...)
	images = append(images,
		amazons("ami-al2", "amazon-eks-node-1.31-v20240807", "x86_64", "2024-08-07"),
		amazons("ami-odd", "amzn2-ami-hvm", "x86_64", "2024-08-07"),
		mine("ami-mine", "amazon-eks-node-al2023-x86_64-standard-1.31-v20240703", "x86_64", "2024-07-03"),
	)
	opts := on("1.31")
	for _, tt := range []struct {
		alias, id string
		minAge    time.Duration
		code      amiselect.Code
		text      string
	}{
		{"al2023@latest", "ami-x86std20240703", 0, "Superseded", "is of 2024-07-03, and there is a newer one of 2024-08-30; ami-x86std20240830 "},
		{"al2023@latest", "ami-armnvidia20240807", 0, "Superseded", "is of 2024-08-07, and there is a newer one of 2024-08-30; ami-armnvidia20240830 "},
		{"al2023@latest~1", "ami-x86std20240830", 0, "Release", "is of release v20240830, later than v20240807, where al2023@latest~1 leads now; ami-x86std20240807 "},
		{"al2023@latest", "ami-x86std20240830", 7 * 24 * time.Hour, "TooYoung", "is 2d old and must be 7d"},
		{"al2023@v20240807", "ami-x86neuron20240703", 0, "Release", "is of release v20240703, the alias is al2023@v20240807; ami-x86neuron20240807 "},
		{"al2023@v20240703", "ami-x86std20240830", 0, "Release", "is of release v20240830, the alias is al2023@v20240703"},
		{"al2023@v20240807", "ami-x86std20240807k30", 0, "KubernetesVersion", "is for Kubernetes 1.30, the control plane is at 1.31; ami-x86std20240807 "},
		{"al2023@latest", "ami-armstd20240807k30", 0, "KubernetesVersion", "is for Kubernetes 1.30, the control plane is at 1.31; ami-armstd20240830 "},
		{"al2023@latest", "ami-al2", 0, "Family", "is of family AL2, the alias is al2023@latest"},
		{"al2023@latest", "ami-odd", 0, "NotSelected", "is none of those that AWS publishes for al2023@latest"},
		{"al2023@latest", "ami-mine", 0, "NotSelected", "is none of those that AWS publishes for al2023@latest"},
		{"al2023@latest", "ami-gone", 0, "Gone", "is not among the images found"},
	} {
		opts.MinAge = tt.minAge
		reason, drifted := mustSelect(t, alias(tt.alias), images, opts).Drifted(tt.id)
		require.True(t, drifted)
		require.Equal(t, tt.code, reason.Code, tt.id)
		require.Contains(t, reason.String(), tt.text)
	}
}

func TestDriftedOn(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807")
	s := mustSelect(t, alias("al2023@latest"), images, on("1.31"))
	_, drifted := s.DriftedOn("ami-x86std20240807", m5)
	require.False(t, drifted)
	reason, drifted := s.DriftedOn("ami-x86std20240807", g5)
	require.True(t, drifted)
	require.Equal(t, amiselect.CodeOtherMachine, reason.Code)
	require.Contains(t, reason.String(), "is selected for other machines than g5.xlarge; ami-x86nvidia20240807 ")
	reason, drifted = s.DriftedOn("ami-x86std20240703", g5)
	require.True(t, drifted)
	require.Equal(t, "ami-x86nvidia20240807", reason.ReplacementID, "what a new node of the type boots")
	_, drifted = s.DriftedOn("ami-x86std20240807", nil)
	require.False(t, drifted)

	arm := mustSelect(t, []amiselect.Term{{ID: "ami-armstd20240807"}}, images, nil)
	reason, drifted = arm.DriftedOn("ami-armstd20240807", m5)
	require.True(t, drifted)
	require.Equal(t, amiselect.CodeNoImageForType, reason.Code)
	require.Contains(t, reason.String(), "is not selected for m5.large, and no other image is")
	reason, drifted = arm.DriftedOn("ami-x86std20240807", m5)
	require.True(t, drifted)
	require.Equal(t, amiselect.CodeNotSelected, reason.Code)
	require.Empty(t, reason.ReplacementID)
}

// TestNotJudged: what is not known replaces no node.
func TestNotJudged(t *testing.T) {
	var zero amiselect.Selection
	for _, on := range []func() (amiselect.Explanation, bool){
		func() (amiselect.Explanation, bool) { return zero.Drifted("ami-1") },
		func() (amiselect.Explanation, bool) { return zero.DriftedOn("ami-1", m5) },
		func() (amiselect.Explanation, bool) {
			return mustSelect(t, []amiselect.Term{{ID: "ami-1"}}, []amiselect.Image{mine("ami-1", "", "x86_64", "2024-01-01")}, nil).Drifted("")
		},
	} {
		reason, drifted := on()
		require.False(t, drifted)
		require.Equal(t, amiselect.CodeNotJudged, reason.Code)
		require.Contains(t, reason.String(), "cannot be judged: ")
	}
	require.True(t, zero.Empty())
	require.Nil(t, zero.Choices())
	require.Nil(t, zero.Images())
	require.Nil(t, zero.PassedOver())
	require.Nil(t, zero.Terms())
}

func TestRelease(t *testing.T) {
	for name, want := range map[string][3]string{
		"amazon-eks-node-1.30-v20240807":                                 {"AL2", "1.30", "v20240807"},
		"amazon-eks-arm64-node-1.30-v20240807":                           {"AL2", "1.30", "v20240807"},
		"amazon-eks-node-al2023-arm64-standard-1.31-v20240807":           {"AL2023", "1.31", "v20240807"},
		"bottlerocket-aws-k8s-1.31-nvidia-aarch64-v1.20.4-b6163b2a":      {"Bottlerocket", "1.31", "v1.20.4"},
		"Windows_Server-2019-English-Core-EKS_Optimized-1.29-2024.08.13": {"Windows2019", "1.29", "2024.08.13"},
		"Windows_Server-2025-English-Core-EKS_Optimized-1.35-2026.01.13": {"Windows2025", "1.35", "2026.01.13"},
		"al2023-ami-2023.3.20240219.0-kernel-6.1-x86_64":                 {},
		"amazon-eks-node-al2023-arm64-standard-1.31-vNext":               {},
		"": {},
	} {
		family, kubernetes, release, ok := amiselect.Release(name)
		require.Equal(t, want, [3]string{string(family), kubernetes, release}, name)
		require.Equal(t, want[0] != "", ok)
	}
}
