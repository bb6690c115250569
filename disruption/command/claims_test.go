package command_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/command"
)

// wideClaim asks for one of many instance types.
func wideClaim(types int, name func(i int) string) *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-", Labels: map[string]string{"team": "shop"},
		Annotations: map[string]string{v1.NodePoolHashAnnotationKey: "1"}}}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}
	r := v1.NodeSelectorRequirementWithMinValues{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn}
	for i := range types {
		r.Values = append(r.Values, name(i))
	}
	claim.Spec.Requirements = append(claim.Spec.Requirements, r)
	return claim
}

func plainName(i int) string { return fmt.Sprintf("m%d.%dxlarge", i/10, i%10) }

func TestClaims(t *testing.T) {
	claims := []*v1.NodeClaim{wideClaim(3, plainName), wideClaim(2, plainName)}
	claims[0].Name = "of no account"
	before := claims[0].DeepCopy()
	c := newTestCommand(t, func(s *command.Spec) { s.Claims = claims })
	require.Equal(t, before, claims[0], "not changed")
	got := c.Claims()
	require.Len(t, got, 2)
	for i, claim := range got {
		want := claims[i].DeepCopy()
		want.Name, want.GenerateName = c.Replacements[i].Token, ""
		require.Equal(t, want, claim)
	}
	got[0].Labels["team"] = "another"
	require.Equal(t, "shop", c.Claims()[0].Labels["team"], "the caller's own")

	back, err := command.ParseRecord(command.Record{Command: c}.String())
	require.NoError(t, err)
	require.Equal(t, c, back.Command)

	without := newTestCommand(t, nil)
	require.Nil(t, without.Claims())
	require.NotEqual(t, without.ID, c.ID)
	claims[0].Name = "another name"
	require.Equal(t, c, newTestCommand(t, func(s *command.Spec) { s.Claims = claims }))
	claims[0].Labels["team"] = "another"
	require.NotEqual(t, c.ID, newTestCommand(t, func(s *command.Spec) { s.Claims = claims }).ID)

	_, err = command.New(commandStart, command.Spec{Reason: "Empty", Sources: commandSpec().Sources,
		NodePools: []string{"a"}, Claims: []*v1.NodeClaim{nil, claims[0]}})
	require.ErrorContains(t, err, "claims: there are 2 for 1 nodePools")
	require.ErrorContains(t, err, "claims[0]: missing")
}

// The largest command of ordinary NodeClaims has them in its record. One whose record
// would be too large for an annotation goes without.
func TestClaimsFitAnAnnotation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		name string
		with bool
		of   func(i int) string
	}{
		{"ordinary names", true, plainName},
		{"names that cannot be packed", false, func(int) string { return fmt.Sprintf("%016x", random.Uint64()) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := commandSpec()
			spec.Sources, spec.NodePools = nil, nil
			for i := range command.MaxSources {
				spec.Sources = append(spec.Sources, command.Source{NodeClaim: fmt.Sprint("claim-", i), Node: fmt.Sprint("node-", i),
					ClaimUID: "01234567-0123-0123-0123-0123456789ab", NodeUID: "01234567-0123-0123-0123-0123456789ab"})
				spec.NodePools = append(spec.NodePools, "web")
				spec.Claims = append(spec.Claims, wideClaim(600, test.of))
			}
			c, err := command.New(commandStart, spec)
			require.NoError(t, err)
			require.Equal(t, test.with, c.Claims() != nil)
			record := command.Record{Command: c}.String()
			require.Less(t, len(record), 225<<10)
			back, err := command.ParseRecord(record)
			require.NoError(t, err)
			require.Equal(t, c, back.Command)
			write := command.Write{Kind: command.WriteCreate, Object: c.Replacements[7].Token}
			require.Equal(t, test.with, command.Prepared{Command: c}.Claim(commandStart, write) != nil)
		})
	}
}

func packed(t testing.TB, text string) string {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func TestParseRecordClaimFaults(t *testing.T) {
	record := command.Record{Command: newTestCommand(t, nil)}.String()
	for name, c := range map[string]struct{ claims, want string }{
		"not base64":     {"%%%%", "claims: illegal base64"},
		"not packed":     {"AAAA", "claims: "},
		"cut":            {packed(t, "[{},{}]")[:8], "claims: "},
		"not JSON":       {packed(t, "{"), "claims: "},
		"none":           {packed(t, "null"), "claims: there are none"},
		"one is missing": {packed(t, "[{}]"), "claims: there are 1 for 2 nodePools"},
		"one is null":    {packed(t, "[{},null]"), "claims[1]: missing"},
		"far too many":   {packed(t, strings.Repeat(" ", 64<<20)), "claims: they have more than 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.TrimSuffix(record, "}") + `,"claims":"` + c.claims + `"}`
			_, err := command.ParseRecord(text)
			require.ErrorContains(t, err, c.want)
		})
	}
}
