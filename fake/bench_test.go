package fake_test

import (
	"fmt"
	"testing"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func BenchmarkCatalog(b *testing.B) {
	for _, families := range [][]string{{"m5"}, nil} {
		types, err := fake.NewCatalog(&fake.CatalogOptions{Families: families})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("types=%d", len(types)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fake.NewCatalog(&fake.CatalogOptions{Families: families}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadCatalog(b *testing.B) {
	text, err := fake.WriteCatalog(fake.Catalog())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fake.ReadCatalog(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCreate(b *testing.B) {
	cloud, err := fake.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	types, err := cloud.InstanceTypes(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	req := cloudprovider.LaunchRequest{
		NodeClassRef: v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Options:      cloudprovider.LaunchOptions(types, requirements.MustParse(fake.LabelInstanceFamily+" = m5")),
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		req.Token = fmt.Sprint(i)
		if _, err := cloud.Create(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
