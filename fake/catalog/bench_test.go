package catalog_test

import (
	"fmt"
	"testing"

	"github.com/dovetail-sdk/dovetail/fake/catalog"
)

func BenchmarkNew(b *testing.B) {
	for _, families := range [][]string{{"m5"}, nil} {
		types, err := catalog.New(&catalog.Options{Families: families})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("types=%d", len(types)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := catalog.New(&catalog.Options{Families: families}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	text, err := catalog.Write(catalog.All())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := catalog.Read(text); err != nil {
			b.Fatal(err)
		}
	}
}
