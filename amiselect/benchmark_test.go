package amiselect_test

import (
	"fmt"
	"testing"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// benchmarkInput has 30 terms of all kinds, and images of which some match.
func benchmarkInput(count int) ([]amiselect.Term, []amiselect.Image, *amiselect.Options) {
	var images []amiselect.Image
	for n := range count {
		images = append(images, mine(fmt.Sprintf("ami-%017x", n), fmt.Sprintf("team-%d-golden-x86_64-v%08d", n%40, n), []string{"x86_64", "arm64"}[n%2],
			fmt.Sprintf("2024-%02d-%02d", 1+n%8, 1+n%28), "env", []string{"prod", "stage", "dev"}[n%3], "team", fmt.Sprint(n%40), "Name", fmt.Sprint(n)))
	}
	var terms []amiselect.Term
	for n := range 10 {
		terms = append(terms,
			amiselect.Term{ID: fmt.Sprintf("ami-%017x", n*7)},
			amiselect.Term{Name: fmt.Sprintf("team-%d-*-v0000?*", n)},
			amiselect.Term{Tags: map[string]string{"env": "prod", "team": fmt.Sprint(n)}})
	}
	return terms, images, on("1.31")
}

func BenchmarkSelect(b *testing.B) {
	for _, count := range []int{50, 5000} {
		terms, images, opts := benchmarkInput(count)
		b.Run(fmt.Sprintf("kind=terms/images=%d/terms=30", count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := amiselect.Select(now, terms, images, opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	_, images, opts := benchmarkInput(4990)
	images = append(images, al2023("1.31", "20240703", "20240807")...)
	b.Run("kind=alias/images=5000/terms=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := amiselect.Select(now, alias("al2023@latest"), images, opts); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDrifted(b *testing.B) {
	terms, images, opts := benchmarkInput(5000)
	s := mustSelect(b, terms, images, opts)
	b.ReportAllocs()
	for b.Loop() {
		s.DriftedOn(images[99].ID, m5)
	}
}

func BenchmarkPattern(b *testing.B) {
	p, err := amiselect.ParsePattern("team-?-golden-*-v0000*")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Match("team-7-golden-x86_64-v00001234")
	}
}
