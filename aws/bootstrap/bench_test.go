package bootstrap_test

import (
	"testing"

	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

func BenchmarkRender(b *testing.B) {
	custom := map[bootstrap.Family]string{
		bootstrap.FamilyAL2:          mimeText,
		bootstrap.FamilyAL2023:       nodeText,
		bootstrap.FamilyBottlerocket: tomlText,
		bootstrap.FamilyWindows2022:  powerShellText,
	}
	for _, family := range []bootstrap.Family{bootstrap.FamilyAL2, bootstrap.FamilyAL2023, bootstrap.FamilyBottlerocket, bootstrap.FamilyWindows2022} {
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
