package amiselect_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

func TestLock(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807")
	images = append(images,
		mine("ami-1", "web-1", "x86_64", "2024-01-01"), mine("ami-2", "web-2", "arm64", "2024-01-02"), mine("ami-3", "web-3", "x86_64", "2024-01-03"),
		amazons("ami-win", "Windows_Server-2022-English-Core-EKS_Optimized-1.31-2024.08.13", "x86_64", "2024-08-13"),
		amazons("ami-br", "bottlerocket-aws-k8s-1.31-x86_64-v1.20.4-b6163b2a", "x86_64", "2024-08-01"))
	for _, tt := range []struct{ terms, want []amiselect.Term }{
		{alias("al2023@latest"), alias("al2023@v20240807")},
		{alias("al2023@latest~1"), alias("al2023@v20240703")},
		{alias("al2023@v20240703"), alias("al2023@v20240703")},
		{alias("bottlerocket@latest"), alias("bottlerocket@v1.20.4")},
		{alias("windows2022@latest"), []amiselect.Term{{ID: "ami-win"}}},
		{[]amiselect.Term{{Name: "web-*"}}, []amiselect.Term{{ID: "ami-3"}, {ID: "ami-2"}}},
		{[]amiselect.Term{{ID: "ami-1"}, {Name: "web-3"}}, []amiselect.Term{{ID: "ami-3"}}},
	} {
		s := mustSelect(t, tt.terms, images, on("1.31"))
		got, err := amiselect.Lock(tt.terms, s)
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
		for _, term := range got {
			require.True(t, term.Static())
		}
		require.Equal(t, s.Images(), mustSelect(t, got, images, on("1.31")).Images())
	}
}

func TestLockFaults(t *testing.T) {
	images := al2023("1.31", "20240703", "20240807")
	latest := alias("al2023@latest")
	lock := func(images []amiselect.Image, opts *amiselect.Options) error {
		s := mustSelect(t, latest, images, opts)
		_, err := amiselect.Lock(latest, s)
		require.ErrorIs(t, err, amiselect.ErrNotLockable)
		return err
	}
	// The nvidia image of the last release does not exist yet.
	late := append(images[:6:6], images[7:]...)
	require.ErrorContains(t, lock(late, on("1.31")), "one version cannot stand for different releases: x86_64 standard is at v20240807, x86_64 nvidia is at v20240703")

	// The only nvidia image is denied, but a pin would be another thing than what was tested.
	opts := on("1.31")
	opts.MinAge = 30 * 24 * time.Hour
	mixed := []amiselect.Image{images[0], images[5], images[6]} // v20240703 standard, v20240807 standard and nvidia
	mixed[2].Name = "amazon-eks-node-al2023-x86_64-nvidia-1.31-v20240703"
	require.ErrorContains(t, lock(mixed, opts), "al2023@v20240703 would also select ami-x86nvidia20240807 (amazon-eks-node-al2023-x86_64-nvidia-1.31-v20240703) for x86_64 nvidia, which was passed over")

	// A rebuild of the same release that is too young.
	latest = alias("bottlerocket@latest")
	rebuilt := []amiselect.Image{
		amazons("ami-b1", "bottlerocket-aws-k8s-1.31-x86_64-v1.20.4-b6163b2a", "x86_64", "2024-07-01"),
		amazons("ami-b2", "bottlerocket-aws-k8s-1.31-x86_64-v1.20.4-c6163b2a", "x86_64", "2024-08-31")}
	require.ErrorContains(t, lock(rebuilt, opts), "would select ami-b2 (bottlerocket-aws-k8s-1.31-x86_64-v1.20.4-c6163b2a) for x86_64 standard and neuron instead of ami-b1")

	// A parameter that leads to images of other names or owners.
	latest = alias("al2023@latest")
	queries, err := amiselect.Queries(latest, amiselect.Environment{KubernetesVersion: "1.31"})
	require.NoError(t, err)
	opts = on("1.31")
	opts.Environment.Parameters = map[string]string{}
	for _, q := range queries {
		opts.Environment.Parameters[q.Parameter] = ""
	}
	opts.Environment.Parameters[queries[0].Parameter] = "ami-odd"
	require.ErrorContains(t, lock([]amiselect.Image{amazons("ami-odd", "odd", "x86_64", "2024-08-01")}, opts), "the name of ami-odd (odd) does not tell its release; select it by id")
	unowned := mine("ami-odd", "amazon-eks-node-al2023-x86_64-standard-1.31-v20240807", "x86_64", "2024-08-01")
	require.ErrorContains(t, lock([]amiselect.Image{unowned}, opts), "its owner is not known to be amazon; select it by id")
	long := amazons("ami-odd", "amazon-eks-node-al2023-x86_64-standard-1.31-v20240807-with-a-long-tail", "x86_64", "2024-08-01")
	require.ErrorContains(t, lock([]amiselect.Image{long}, opts), "at most 30 are allowed")

	_, err = amiselect.Lock(alias("al2@latest"), mustSelect(t, latest, images, on("1.31")))
	require.ErrorContains(t, err, "the terms are not those that the images were selected by")
	_, err = amiselect.Lock(latest, amiselect.Selection{})
	require.ErrorContains(t, err, "nothing is selected")
}

// TestLockSelectsTheSame is the law: what Lock returns selects the same images
// from the same input, and still does when newer ones have appeared. Where it
// cannot, Lock says so.
func TestLockSelectsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	locked, refused := 0, 0
	for round := range 3000 {
		images, terms, opts := randomInput(r)
		s, err := amiselect.Select(now, terms, images, opts)
		if err != nil {
			continue
		}
		pin, err := amiselect.Lock(terms, s)
		if err != nil {
			require.ErrorIs(t, err, amiselect.ErrNotLockable)
			refused++
			continue
		}
		locked++
		require.Equal(t, s.Images(), mustSelect(t, pin, images, opts).Images(), "round %d: %v locked as %v", round, terms, pin)
		if terms[0].Alias != "" {
			require.Equal(t, s.Choices(), mustSelect(t, pin, images, opts).Choices())
		}
		more := append(al2023("1.31", "20240831"), images...)
		more = append(more, mine("ami-newest", "web-9", "x86_64", "2024-08-31", "env", "prod"))
		require.Equal(t, s.Images(), mustSelect(t, pin, more, opts).Images(), "round %d: %v locked as %v", round, terms, pin)
		again, err := amiselect.Lock(pin, mustSelect(t, pin, images, opts))
		require.NoError(t, err)
		require.Equal(t, pin, again, "a lock is locked already")
	}
	require.Greater(t, locked, 1000)
	require.Greater(t, refused, 50)
}

func randomInput(r *rand.Rand) ([]amiselect.Image, []amiselect.Term, *amiselect.Options) {
	var images []amiselect.Image
	for _, i := range al2023("1.31", "20240605", "20240703", "20240807", "20240828") {
		if r.IntN(12) > 0 {
			if r.IntN(15) == 0 {
				i.DeprecationTime = date("2024-08-30")
			}
			images = append(images, i)
		}
	}
	for n := range r.IntN(8) {
		arch := []string{"x86_64", "arm64", "i386"}[r.IntN(3)]
		images = append(images, mine(fmt.Sprintf("ami-%d", n), fmt.Sprintf("web-%d", r.IntN(3)), arch,
			fmt.Sprintf("2024-08-%02d", 1+r.IntN(3)), "env", []string{"prod", "test"}[r.IntN(2)]))
	}
	opts := on("1.31")
	opts.MinAge = []time.Duration{0, 0, 10 * 24 * time.Hour, 40 * 24 * time.Hour}[r.IntN(4)]
	opts.Deny = [][]string{nil, nil, {"*-v20240807"}, {"ami-x86std20240828"}, {"web-2"}}[r.IntN(5)]
	terms := [][]amiselect.Term{
		alias("al2023@latest"), alias("al2023@latest~1"), alias("al2023@v20240703"),
		{{Name: "web-*"}}, {{Tags: map[string]string{"env": "prod"}}}, {{ID: "ami-0"}, {Name: "web-1"}, {Tags: map[string]string{"env": "t*"}}},
	}[r.IntN(6)]
	return images, terms, opts
}
