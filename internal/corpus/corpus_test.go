package corpus_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/corpus"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

type answer struct {
	Price  float64
	Names  []string
	By     map[string]int
	Pod    *corev1.Pod
	Type   *cloudprovider.InstanceType
	Labels requirements.Set
	At     time.Time
	Inner  *answer
	Err    error
	hidden int
}

func podNamed(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

// TestHashSeesWhatIsExported: each exported part changes the hash, and nothing else does.
func TestHashSeesWhatIsExported(t *testing.T) {
	made := func(edit func(*answer)) uint64 {
		a := &answer{Price: 1, Names: []string{"a", "b"}, By: map[string]int{"x": 1, "y": 2}, Pod: podNamed("web"),
			Type: &cloudprovider.InstanceType{Name: "m"}, Labels: requirements.MustParse("zone in (a)"), Inner: &answer{}}
		edit(a)
		return corpus.Hash(a)
	}
	base := made(func(*answer) {})
	for name, edit := range map[string]func(*answer){
		"again":      func(*answer) {},
		"hidden":     func(a *answer) { a.hidden = 7 },
		"equal pod":  func(a *answer) { a.Pod = podNamed("web") },
		"equal type": func(a *answer) { a.Type = &cloudprovider.InstanceType{Name: "m"} },
		"shared":     func(a *answer) { a.Names = []string{"a", "b", "c"}[:2] },
	} {
		require.Equal(t, base, made(edit), name)
	}
	for name, edit := range map[string]func(*answer){
		"price":   func(a *answer) { a.Price = 1.0000000000000002 },
		"order":   func(a *answer) { a.Names = []string{"b", "a"} },
		"split":   func(a *answer) { a.Names = []string{"ab"} },
		"map":     func(a *answer) { a.By = map[string]int{"x": 2, "y": 1} },
		"pod":     func(a *answer) { a.Pod = podNamed("db") },
		"no pod":  func(a *answer) { a.Pod = nil },
		"type":    func(a *answer) { a.Type.Name = "n" },
		"labels":  func(a *answer) { a.Labels = requirements.MustParse("zone in (b)") },
		"time":    func(a *answer) { a.At = time.Unix(1, 0) },
		"inner":   func(a *answer) { a.Inner.Price = 1 },
		"nothing": func(a *answer) { a.Inner = nil },
		"error":   func(a *answer) { a.Err = errors.New("x") },
	} {
		require.NotEqual(t, base, made(edit), name)
	}
}

// TestDifferences: what differs is said by its figures, and what is gone only where all
// are there.
func TestDifferences(t *testing.T) {
	known := []string{"a 00000001 1.5000 0 10", "b 00000002 1.0000 3 10", "c 00000003 0.0000 0 1"}
	lines := []string{"a 00000001 1.5000 0 10", "b 00000009 1.0000 2 12", "d 00000004 0.0000 0 1"}
	want := []string{"b: left over 3 -> 2, steps 10 -> 12", "+ d 00000004 0.0000 0 1"}
	require.Equal(t, want, corpus.Differences(known, lines, false))
	require.Equal(t, append(want, "- c 00000003 0.0000 0 1"), corpus.Differences(known, lines, true))
	require.Equal(t, []string{"c: the same figures, but another answer"},
		corpus.Differences(known, []string{"c 00000007 0.0000 0 1"}, false))
	require.Equal(t, "n 8ff51d95 0.5000 1 2", corpus.Line("n", corpus.Answer{Value: 3, Cost: 0.5, Left: 1, Steps: 2}))
}
