package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/page"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/report"
)

// checkPairs lists the faults of the pairs: a NodePool of the file that replaces OLD, a NodePool that is
// removed, and one that is added.
func (s *settings) checkPairs(f *command.Faults) {
	f.If(s.compare == "" && len(s.pairs) > 0, "-pair says which NodePool of -compare takes the place of which; give -compare too")
	for _, pair := range s.pairs {
		f.If(pair == "=" || !strings.Contains(pair, "="), "invalid value %q for flag -pair: must be OLD=NEW, OLD= for a NodePool that goes, or =NEW for one that is added", pair)
	}
}

// compareWith answers -compare: it compares the cluster with its policies replaced by the NodePools and
// NodeOverlays of the file.
func (s *settings) compareWith(ctx context.Context, w *offline.World, stdin io.Reader, stderr io.Writer) (a answer, err error) {
	defer func() { err = command.Input(w.Cluster.Explain(err)) }()
	file, err := w.Policies(s.compare, s.files, stdin)
	if err != nil {
		return a, err
	}
	before := s.running(w, stderr)
	w.Say("whatif: "+s.compare, stderr, file.Remarks()...)
	policies, changes, err := newPolicies(s, before, file.Input())
	if err != nil {
		return a, err
	}
	after, err := before.With(policies)
	if err != nil {
		return a, err
	}
	found, err := compare.Compare(ctx, w.Now, before, after, nil)
	if err != nil {
		return a, err
	}
	r := report.NewComparison(w.Now, before, found, report.Change{File: s.compare, Lines: changes})
	return answer{data: r, text: r.Format, page: func() page.Page { return page.Comparison(s.compare, r, before, found) }}, nil
}

// newPolicies replaces the NodePools and NodeOverlays of the cluster by those of the file with the
// same names, and describes the changes. All others stay. A pool of the file whose name the cluster
// does not have must be in a pair if no name of the file matches, because it may be meant to
// replace one.
func newPolicies(s *settings, before compare.Side, in provisioning.Input) (p compare.Policies, changes []string, err error) {
	if len(in.NodePools)+len(in.Overlays) == 0 {
		return p, nil, fmt.Errorf("%s: there is no NodePool and no NodeOverlay in it to compare with", s.compare)
	}
	p = before.Policies()
	p.NodePools, p.InstanceTypes = slices.Clone(p.NodePools), maps.Clone(p.InstanceTypes)
	today, fresh := poolsByName(p.NodePools), poolsByName(in.NodePools)
	if p.Pairs, err = readPairs(s, today, fresh); err != nil {
		return p, nil, err
	}
	p.NodePools = slices.DeleteFunc(p.NodePools, func(pool *v1.NodePool) bool {
		_, paired := p.Pairs[pool.Name]
		return paired || fresh[pool.Name] != nil
	})
	takesPlace := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.Pairs)) {
		if to := p.Pairs[name]; to != "" {
			changes = append(changes, fmt.Sprintf("NodePool %s takes the place of %s", to, name))
			takesPlace[to] = true
		} else {
			changes = append(changes, fmt.Sprintf("NodePool %s goes", name))
			delete(p.Pairs, name)
		}
	}
	met := len(in.NodePools) == 0 || len(s.pairs) > 0
	for _, pool := range in.NodePools {
		p.NodePools = append(p.NodePools, pool)
		p.InstanceTypes[pool.Name] = in.InstanceTypes[pool.Name]
		switch {
		case today[pool.Name] != nil:
			met = true
			if !equality.Semantic.DeepEqual(today[pool.Name].Spec, pool.Spec) {
				changes = append(changes, fmt.Sprintf("NodePool %s is changed", pool.Name))
			}
		case !takesPlace[pool.Name]:
			changes = append(changes, fmt.Sprintf("NodePool %s is added", pool.Name))
		}
	}
	if !met {
		return p, nil, s.unmet(today, fresh)
	}
	changes = append(changes, putOverlays(&p, in.Overlays)...)
	if len(changes) == 0 {
		changes = []string{"its NodePools and NodeOverlays are those of the cluster"}
	}
	return p, changes, nil
}

// unmet returns an error that says how to pair the NodePools of the file with those of the cluster.
func (s *settings) unmet(today, fresh map[string]*v1.NodePool) error {
	old, names := slices.Sorted(maps.Keys(today)), slices.Sorted(maps.Keys(fresh))
	hint := fmt.Sprintf("say -pair =%s if it is to stand beside them", names[0])
	if len(old) > 0 {
		hint = fmt.Sprintf("say -pair %s=%s if it takes its place, or -pair =%s if it is to stand beside them", old[0], names[0], names[0])
	}
	return fmt.Errorf("%s: no NodePool in it (%s) has the name of one of the cluster (%s): %s",
		s.compare, strings.Join(names, ", "), strings.Join(old, ", "), hint)
}

// putOverlays replaces overlays by those with the same names, and describes the changes.
func putOverlays(p *compare.Policies, overlays []*v1.NodeOverlay) (changes []string) {
	for _, overlay := range overlays {
		same := func(o *v1.NodeOverlay) bool { return o.Name == overlay.Name }
		switch i := slices.IndexFunc(p.Overlays, same); {
		case i < 0:
			changes = append(changes, fmt.Sprintf("NodeOverlay %s is added", overlay.Name))
		case !equality.Semantic.DeepEqual(p.Overlays[i].Spec, overlay.Spec):
			changes = append(changes, fmt.Sprintf("NodeOverlay %s is changed", overlay.Name))
		}
		p.Overlays = append(slices.DeleteFunc(slices.Clone(p.Overlays), same), overlay)
	}
	return changes
}

// readPairs reads -pair: for each pool that is replaced the one in its place, which is empty if the
// pool is removed.
func readPairs(s *settings, today, fresh map[string]*v1.NodePool) (map[string]string, error) {
	pairs := map[string]string{}
	var errs []error
	for _, pair := range s.pairs {
		from, to, _ := strings.Cut(pair, "=")
		if from != "" && today[from] == nil {
			errs = append(errs, fmt.Errorf("-pair %s: the cluster has no NodePool %s%s", pair, from, command.DidYouMean(from, slices.Sorted(maps.Keys(today)))))
		}
		if to != "" && fresh[to] == nil {
			errs = append(errs, fmt.Errorf("-pair %s: %s has no NodePool %s%s", pair, s.compare, to, command.DidYouMean(to, slices.Sorted(maps.Keys(fresh)))))
		}
		if from != "" {
			pairs[from] = to
		}
	}
	return pairs, errors.Join(errs...)
}

func poolsByName(pools []*v1.NodePool) map[string]*v1.NodePool {
	out := make(map[string]*v1.NodePool, len(pools))
	for _, p := range pools {
		out[p.Name] = p
	}
	return out
}
