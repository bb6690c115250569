package v1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func BenchmarkDecode(b *testing.B) {
	text := readFile(b, "manifests", "general.yaml")
	docs, err := v1.Documents(text)
	require.NoError(b, err)
	for _, bc := range []struct {
		format string
		data   []byte
	}{{"yaml", text}, {"json", docs[0].JSON()}} {
		b.Run("format="+bc.format, func(b *testing.B) {
			b.SetBytes(int64(len(bc.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v1.Decode(bc.data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	p, err := v1.DecodeNodePool(readFile(b, "manifests", "general.yaml"))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		p.Validate()
	}
}
