package bootstrap_test

import (
	"testing"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

func BenchmarkRender(b *testing.B) {
	custom := map[amiselect.Family]string{
		amiselect.FamilyAL2:          mimeText,
		amiselect.FamilyAL2023:       nodeText,
		amiselect.FamilyBottlerocket: tomlText,
		amiselect.FamilyWindows2022:  powerShellText,
	}
	for _, family := range []amiselect.Family{amiselect.FamilyAL2, amiselect.FamilyAL2023, amiselect.FamilyBottlerocket, amiselect.FamilyWindows2022} {
		n := full(family)
		n.CustomUserData = custom[family]
		b.Run("family="+string(family), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bootstrap.Render(n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
