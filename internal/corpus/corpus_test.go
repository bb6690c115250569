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

// TestGateSeesAPlanThatIsSpoilt: of two equal files no bound is broken, and each way of
// spoiling an answer breaks one.
func TestGateSeesAPlanThatIsSpoilt(t *testing.T) {
	bounds := corpus.Bounds{Left: 0.001, Mean: 0.001, Worst: 0.01}
	before := []string{"a 1 10.0000 0 5", "b 2 20.0000 0 5", "c 3 30.0000 1 5", "words"}
	require.Empty(t, corpus.Compare(before, before).Breaks(bounds))
	for name, after := range map[string][]string{
		"a pod more is left":     {"a 1 10.0000 0 5", "b 2 20.0000 1 5", "c 3 30.0000 1 5"},
		"all cost a little more": {"a 1 10.0200 0 5", "b 2 20.0400 0 5", "c 3 30.0600 1 5"},
		"one costs a lot more":   {"a 1 10.2000 0 5", "b 2 19.8000 0 5", "c 3 30.0000 1 5"},
	} {
		require.Len(t, corpus.Compare(before, after).Breaks(bounds), 1, name)
	}
	cheaper := corpus.Compare(before, []string{"a 1 9.0000 0 5", "b 2 20.0000 0 9", "c 3 31.0000 0 5", "d 4 1.0000 9 9"})
	require.Empty(t, cheaper.Breaks(bounds))
	require.Equal(t, 3, cheaper.Problems)
	require.Equal(t, 1, cheaper.Fewer)
	require.Equal(t, 1, cheaper.Cheaper)
	require.InDelta(t, 29, cheaper.Cost, 1e-9)
	cheaper.Faults = 1
	require.Equal(t, []string{"1 rules are broken"}, cheaper.Breaks(bounds))
	cheaper.Faults, cheaper.ProvenBefore = 0, 3
	require.Len(t, cheaper.Breaks(bounds), 1)
}
