package catalog_test

import (
	"bytes"
	"fmt"
	"strings"
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
	text := []byte("[" + strings.TrimPrefix(strings.Repeat(`,{"name":"NAME","requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]},`+
		`{"key":"kubernetes.io/os","operator":"In","values":["linux"]}],"capacity":{"cpu":2,"memory":"8Gi","pods":29},`+
		`"offerings":[{"zone":"a","capacityType":"spot","price":0.03},{"zone":"b","capacityType":"on-demand","price":0.1}]}`, 1000), ",") + "]")
	for i := range 1000 {
		text = bytes.Replace(text, []byte("NAME"), fmt.Append(nil, i), 1)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := catalog.Read(text); err != nil {
			b.Fatal(err)
		}
	}
}
