package volume

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// maxSteps bounds the combinations of volumes that are tried for one pod, each counted by its
// labels. Volumes require a zone or a host, so few combinations remain after each claim. Only
// labels of many kinds, or three claims for the disks of tens of thousands of hosts, come near the
// bound.
const maxSteps = 1 << 18

// factor is the requirement of one claim: one of the sets, or a set of one of the groups together
// with a volume of the group.
type factor struct {
	id     string // the claim, as errors name it
	sets   []requirements.Set
	groups []group
}

// group is volumes in the same place.
type group struct {
	sets    []requirements.Set
	members []*candidate // in the order in which they are taken
}

// combination is one way to serve several claims: nodes that satisfy set, with the volumes used,
// sorted by name.
type combination struct {
	set  requirements.Set
	used []string
}

// factorsOf groups the candidates of each claim by place.
func factorsOf(claims []unbound) []factor {
	var out []factor
	for _, u := range claims {
		f := factor{id: u.id}
		if u.made != nil {
			f.sets = u.made.launch
		}
		at := map[string]int{}
		for _, c := range u.candidates {
			i, ok := at[c.place]
			if !ok {
				i = len(f.groups)
				at[c.place] = i
				f.groups = append(f.groups, group{sets: c.launch})
			}
			f.groups[i].members = append(f.groups[i].members, c)
		}
		out = append(out, f)
	}
	return out
}

// product returns the Sets of labels that satisfy one choice of each factor. It returns an error if
// there is none.
func product(factors []factor) ([]requirements.Set, error) {
	have := []combination{{}}
	steps := 0
	for i := range factors {
		f := &factors[i]
		next := &combinations{seen: map[string]bool{}, last: i == len(factors)-1}
		byHost, elsewhere := f.hosts()
		for _, c := range have {
			for _, s := range f.sets {
				next.add(c.set.Intersect(s), c.used)
			}
			groups := elsewhere
			host, pinned := hostOf(c.set)
			if pinned {
				groups = slices.Concat(elsewhere, byHost[host])
			} else if len(byHost) > 0 {
				groups = allGroups(len(f.groups))
			}
			for _, g := range groups {
				next.addGroup(c, &f.groups[g])
			}
			if steps += (1 + c.set.Len()) * (1 + len(f.sets) + len(groups)); steps > maxSteps {
				return nil, fmt.Errorf("%s and the claims before it can be served by too many combinations of volumes; "+
					"give the claims selectors, or volumes of their own", f.id)
			}
		}
		if len(next.list) == 0 {
			return nil, conflict(factors[:i+1])
		}
		have = next.list
	}
	sets := make([]requirements.Set, len(have))
	for i, c := range have {
		sets[i] = c.set
	}
	return sets, nil
}

// hosts separates the groups that are on one host from all others. Most static volumes are local
// disks, and trying those of other hosts would make the work for a pod with two claims quadratic in
// the size of the cluster.
func (f *factor) hosts() (byHost map[string][]int, elsewhere []int) {
	byHost = map[string][]int{}
	for i := range f.groups {
		if sets := f.groups[i].sets; len(sets) == 1 {
			if host, ok := hostOf(sets[0]); ok {
				byHost[host] = append(byHost[host], i)
				continue
			}
		}
		elsewhere = append(elsewhere, i)
	}
	return byHost, elsewhere
}

// hostOf returns the only hostname that a Set admits; false if it admits others.
func hostOf(s requirements.Set) (string, bool) {
	r, ok := s.Get(corev1.LabelHostname)
	if !ok || r.AllowsAbsent() {
		return "", false
	}
	values, finite := r.Values()
	if !finite || len(values) != 1 {
		return "", false
	}
	return values[0], true
}

func allGroups(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// combinations is a list without duplicates.
type combinations struct {
	list []combination
	seen map[string]bool
	last bool // no claim comes after, so the volumes used do not matter
}

func (cs *combinations) add(set requirements.Set, used []string) {
	if set.Impossible() {
		return
	}
	if cs.last {
		used = nil
	}
	text := set.String()
	for _, name := range used {
		text += strconv.Quote(name)
	}
	if !cs.seen[text] {
		cs.seen[text] = true
		cs.list = append(cs.list, combination{set, used})
	}
}

// addGroup adds a combination extended by the first unused volume of a group.
func (cs *combinations) addGroup(c combination, g *group) {
	for _, m := range g.members {
		at, used := slices.BinarySearch(c.used, m.volume.Name)
		if used {
			continue
		}
		var with []string
		if !cs.last {
			with = slices.Insert(slices.Clone(c.used), at, m.volume.Name)
		}
		for _, s := range g.sets {
			cs.add(c.set.Intersect(s), with)
		}
		return
	}
}

// cross intersects each of several sets with a further one.
func cross(sets []requirements.Set, with requirements.Set) []requirements.Set {
	out := make([]requirements.Set, len(sets))
	for i, s := range sets {
		out[i] = s.Intersect(with)
	}
	return out
}

// conflict returns the error that no node can serve the last factor together with the others.
func conflict(factors []factor) error {
	last := &factors[len(factors)-1]
	var before []string
	for i := range factors[:len(factors)-1] {
		before = append(before, factors[i].id)
	}
	if len(before) == 0 {
		return fmt.Errorf("%s asks for %s, which no node can have; correct the labels or the node affinity of its volume", last.id, last.asks())
	}
	return fmt.Errorf("%s asks for %s, which no node can have that serves %s too; move the volumes to where one node can reach all",
		last.id, last.asks(), strings.Join(before, " and "))
}

// asks renders the first few requirements of a claim.
func (f *factor) asks() string {
	sets := slices.Clone(f.sets)
	for i := range f.groups {
		sets = append(sets, f.groups[i].sets...)
	}
	const shown = 3
	var out []string
	for _, s := range sets[:min(shown, len(sets))] {
		if text := s.String(); text == "" {
			out = append(out, "a volume of its own")
		} else {
			out = append(out, text)
		}
	}
	if more := len(sets) - shown; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", or ")
}

// simplify reduces a disjunction of Sets. Sets that differ in one label only become one Set with
// the values of both, and a Set without a requirement on that label absorbs the others. The result
// admits the same labels, is sorted by text, and is nil if it admits all. The Sets must be
// distinct.
func simplify(sets []requirements.Set) []requirements.Set {
	for {
		before := len(sets)
		for _, key := range keysOf(sets) {
			sets = mergeAlong(key, sets)
		}
		if len(sets) == before {
			break
		}
	}
	if slices.ContainsFunc(sets, func(s requirements.Set) bool { return s.Len() == 0 }) {
		return nil
	}
	slices.SortFunc(sets, func(a, b requirements.Set) int { return strings.Compare(a.String(), b.String()) })
	return sets
}

// keysOf lists the keys that any of the Sets names, sorted.
func keysOf(sets []requirements.Set) []string {
	keys := map[string]bool{}
	for _, s := range sets {
		for r := range s.All() {
			keys[r.Key()] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// mergeAlong merges Sets that differ in one label only.
func mergeAlong(key string, sets []requirements.Set) []requirements.Set {
	type family struct {
		rest   requirements.Set
		free   bool     // a Set has no requirement on the label
		values []string // of Sets that list values
		others []requirements.Set
	}
	var families []*family
	by := map[string]*family{}
	for _, s := range sets {
		rest := s.Without(key)
		text := rest.String()
		f := by[text]
		if f == nil {
			f = &family{rest: rest}
			by[text] = f
			families = append(families, f)
		}
		r, named := s.Get(key)
		values, finite := r.Values()
		switch {
		case !named:
			f.free = true
		case finite && len(values) > 0 && !r.AllowsAbsent():
			f.values = append(f.values, values...)
		default:
			f.others = append(f.others, s)
		}
	}
	var out []requirements.Set
	for _, f := range families {
		if f.free {
			out = append(out, f.rest)
			continue
		}
		if len(f.values) > 0 {
			out = append(out, f.rest.With(requirements.In(key, f.values...)))
		}
		out = append(out, f.others...)
	}
	return out
}
