package pricing_test

import (
	"fmt"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
)

func BenchmarkParseProducts(b *testing.B) {
	var list []string
	for i := range 900 {
		list = append(list, of(b, fmt.Sprintf("x%d.large", i), "0.1"))
	}
	b.Run("types=900", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			got, _ := pricing.ParseProducts("us-east-1", list)
			require.Len(b, got, 900)
		}
	})
}

func BenchmarkWithSpot(b *testing.B) {
	var history []ec2types.SpotPrice
	for i := range 900 {
		for _, zone := range []string{"a", "b", "c", "d", "e", "f"} {
			history = append(history, spot(fmt.Sprintf("x%d.large", i), zone, "0.04", noon))
		}
	}
	p := newPrices(b, "us-east-1")
	b.Run("types=900/zones=6", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := p.WithSpot(noon, history)
			require.NoError(b, err)
		}
	})
}
