package v1_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// FuzzDecode feeds any text to the decoder. It must not panic, must judge the
// same text the same way twice, and what it accepts must survive a round trip
// and everything that is done with an object afterwards.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.yaml"))
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	// One by one: the fuzzer is slow to cut down large inputs.
	vectors, err := v1.Documents(readFile(f, "hash_vectors.yaml"))
	require.NoError(f, err)
	for _, doc := range vectors {
		f.Add(doc.JSON())
	}
	for _, text := range []string{
		"", "{}", "[]", "null", "kind: NodePool", "a: [", "&a [*a]", "{1: a, \"1\": b}", "---\n...\n---\n", "\ufeff{}",
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":{"weight":1,"weight":2}}`,
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePoolList","items":[{},{"kind":"x"}]}`,
		`{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","spec":{"expireAfter":"Never","taints":[{"timeAdded":"2026-01-01T00:00:00Z"}]}}`,
		`{"apiVersion":"karpenter.sh/v1alpha1","kind":"NodeOverlay","spec":{"price":"1e3","capacity":{"a":"1e900"}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, err := v1.DecodeAll(data)
		again, errAgain := v1.DecodeAll(data)
		if err != nil {
			require.EqualError(t, errAgain, err.Error())
			return
		}
		require.Equal(t, objects, again)
		for _, obj := range objects {
			exercise(t, obj)
		}
	})
}

func exercise(t *testing.T, obj runtime.Object) {
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	back, err := v1.Decode(text)
	require.NoErrorf(t, err, "%s", text)
	textAgain, err := json.Marshal(back)
	require.NoError(t, err)
	require.Equal(t, string(text), string(textAgain))

	untouched := obj.DeepCopyObject()
	switch obj := obj.(type) {
	case *v1.NodePool:
		faults := messages(obj.Validate())
		require.NotEmpty(t, obj.Hash())
		require.Empty(t, obj.ValidateUpdate(obj))
		require.Equal(t, untouched, obj)
		obj.Default()
		require.Equal(t, faults, messages(obj.Validate()), "defaults are assumed anyway")
		once := obj.DeepCopy()
		obj.Default()
		require.Equal(t, once, obj, "defaults are set once")
	case *v1.NodeClaim:
		faults := messages(obj.Validate())
		require.Empty(t, obj.ValidateUpdate(obj))
		require.Equal(t, untouched, obj)
		obj.Default()
		require.Equal(t, faults, messages(obj.Validate()))
	case *v1.NodeOverlay:
		obj.Validate()
		require.Equal(t, untouched, obj)
	}
}

// FuzzNillableDuration feeds any JSON. What is accepted is written back byte
// for byte, and means the same when it is read again.
func FuzzNillableDuration(f *testing.F) {
	for _, text := range []string{`"Never"`, `"0s"`, `"720h"`, `"1h30m"`, `"-1.5h"`, `"100ms"`, `null`, `5`, `""`, ` "1h" `, `"\u0031h"`, `"9223372036854775807ns"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d v1.NillableDuration
		if json.Unmarshal(data, &d) != nil {
			require.True(t, d.IsZero())
			return
		}
		out, err := json.Marshal(d)
		require.NoError(t, err)
		var back v1.NillableDuration
		require.NoError(t, json.Unmarshal(out, &back))
		require.Equal(t, d, back)
		require.True(t, d.Equal(back))
		require.Equal(t, d.IsZero(), d.String() == "")
		require.Equal(t, d, *d.DeepCopy())
		if !d.IsZero() {
			parsed, err := v1.ParseNillableDuration(d.String())
			require.NoError(t, err)
			require.True(t, d.Equal(parsed))
		}
	})
}

// FuzzBudgetSchedule feeds any schedule to validation, which must not panic, admits
// nothing that the schema of Karpenter refuses, and does not mind a space at the end.
func FuzzBudgetSchedule(f *testing.F) {
	for _, text := range []string{"@daily", "0 9 * * sat-sun", "CRON_TZ=Europe/Berlin */5 0-6/2 1,15 jan *", "TZ=", "* * * * * *", "1/2/3 - , ? *", "TZ=UTC @daily\n"} {
		f.Add(text)
	}
	schema := regexp.MustCompile(`^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(schedule(text).Validate()) == 0 {
			require.Regexp(t, schema, text)
			require.Empty(t, schedule(text+" ").Validate())
		}
	})
}
