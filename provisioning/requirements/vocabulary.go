package requirements

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Vocabulary says which label keys mean something to the provisioning of nodes:
// the well-known keys, the keys that users may not set, the keys that are other
// names for a label, and the values that certain keys may have.
//
// A Vocabulary is immutable and may be shared between goroutines. A nil
// *Vocabulary behaves as DefaultVocabulary everywhere. The zero value knows
// nothing: see EmptyVocabulary.
type Vocabulary struct {
	wellKnown         []string // sorted; the keys of isWellKnown
	isWellKnown       map[string]bool
	restrictedDomains []string // sorted
	restrictedLabels  []string // sorted
	aliases           map[string]string
	valueAliases      map[string]map[string]string
	knownValues       map[string][]string // values sorted
	zoneNames         []string            // sorted
}

// Extension is a provider's addition to a Vocabulary. Every field may be empty. Keys that are
// aliases are replaced by the keys that they stand for.
type Extension struct {
	// WellKnown are the keys whose values are chosen when a node is launched, so that a NodePool
	// may leave them undefined.
	WellKnown []string

	// RestrictedDomains are the prefixes (the part of a key before the slash)
	// under which users may set no label but the well-known ones. Their
	// subdomains are restricted too.
	RestrictedDomains []string

	// RestrictedLabels are single keys that users may not set.
	RestrictedLabels []string

	// Aliases maps other names of a label to its key. If the key is an alias
	// too, it is followed.
	Aliases map[string]string

	// ValueAliases maps, for a key, other spellings of a value to the value.
	ValueAliases map[string]map[string]string

	// KnownValues lists, for a key, values that a node may get. A requirement
	// for none of them is refused by CheckRequirement.
	KnownValues map[string][]string

	// ZoneNames are the keys of labels, other than the zone label itself, whose
	// value follows from the zone within one account, such as the ID of the zone:
	// see Vocabulary.NamesZone.
	ZoneNames []string
}

// defaultVocabulary is immutable, like every Vocabulary.
var defaultVocabulary = extend(&Vocabulary{}, &Extension{
	WellKnown:         v1.WellKnownLabels(),
	RestrictedDomains: []string{v1.Group},
	RestrictedLabels:  []string{corev1.LabelHostname},
	Aliases: map[string]string{
		corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
		corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
		corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
		"beta.kubernetes.io/arch":           corev1.LabelArchStable,
		"beta.kubernetes.io/os":             corev1.LabelOSStable,
	},
	KnownValues: map[string][]string{
		v1.CapacityTypeLabelKey: v1.CapacityTypes(),
	},
})

// DefaultVocabulary returns the vocabulary that every provider shares, which is
// that of Karpenter without a cloud:
//
//   - well-known: karpenter.sh/nodepool, karpenter.sh/capacity-type,
//     kubernetes.io/arch, kubernetes.io/os, node.kubernetes.io/instance-type,
//     node.kubernetes.io/windows-build, topology.kubernetes.io/region and
//     topology.kubernetes.io/zone;
//   - restricted: the domain karpenter.sh and the label kubernetes.io/hostname;
//   - aliases: the beta names of the labels for zone, region, instance type,
//     architecture and operating system;
//   - known values: on-demand, reserved and spot for the capacity type.
func DefaultVocabulary() *Vocabulary { return defaultVocabulary }

// emptyVocabulary is immutable, like every Vocabulary.
var emptyVocabulary = &Vocabulary{}

// EmptyVocabulary returns the vocabulary that knows no label. With it Set.Compatible and
// Set.Conflicts take the labels of a Set for all there are, as is so for a node that exists.
func EmptyVocabulary() *Vocabulary { return emptyVocabulary }

func (v *Vocabulary) orDefault() *Vocabulary {
	if v == nil {
		return defaultVocabulary
	}
	return v
}

// Extend returns a Vocabulary with the content of v and e. Lists are merged; if both have an alias
// of the same name, that of e is used. Aliases that form a circle stand for no label and are left
// out. Neither v nor e is changed, and the result shares nothing with e.
func (v *Vocabulary) Extend(e Extension) *Vocabulary {
	return extend(v.orDefault(), &e)
}

func extend(v *Vocabulary, e *Extension) *Vocabulary {
	aliases := maps.Clone(v.aliases)
	if aliases == nil {
		aliases = map[string]string{}
	}
	maps.Copy(aliases, e.Aliases)
	out := &Vocabulary{
		aliases:           resolved(aliases),
		restrictedDomains: merged(v.restrictedDomains, e.RestrictedDomains),
		valueAliases:      map[string]map[string]string{},
		knownValues:       map[string][]string{},
		isWellKnown:       map[string]bool{},
	}
	out.wellKnown = merged(normalizeKeys(out.aliases, v.wellKnown), normalizeKeys(out.aliases, e.WellKnown))
	for _, key := range out.wellKnown {
		out.isWellKnown[key] = true
	}
	out.restrictedLabels = merged(normalizeKeys(out.aliases, v.restrictedLabels), normalizeKeys(out.aliases, e.RestrictedLabels))
	out.addValueAliases(v.valueAliases)
	out.addValueAliases(e.ValueAliases)
	out.addKnownValues(v.knownValues)
	out.addKnownValues(e.KnownValues)
	out.zoneNames = merged(normalizeKeys(out.aliases, v.zoneNames), normalizeKeys(out.aliases, e.ZoneNames))
	return out
}

func (v *Vocabulary) addValueAliases(byKey map[string]map[string]string) {
	// In order, so that a key given under two names ends the same every time.
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		to := normalizeKey(v.aliases, key)
		if v.valueAliases[to] == nil {
			v.valueAliases[to] = map[string]string{}
		}
		maps.Copy(v.valueAliases[to], byKey[key])
	}
}

func (v *Vocabulary) addKnownValues(byKey map[string][]string) {
	for key, values := range byKey {
		to := normalizeKey(v.aliases, key)
		v.knownValues[to] = merged(v.knownValues[to], values)
	}
}

func normalizeKeys(aliases map[string]string, keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = normalizeKey(aliases, key)
	}
	return out
}

func normalizeKey(aliases map[string]string, key string) string {
	if to, ok := aliases[key]; ok {
		return to
	}
	return key
}

// resolved returns the aliases with each leading straight to a key that is not
// an alias.
func resolved(aliases map[string]string) map[string]string {
	out := make(map[string]string, len(aliases))
	for from := range aliases {
		to, ok := aliases[from], true
		for steps := 0; ok; steps++ {
			var next string
			if next, ok = aliases[to]; !ok {
				out[from] = to
			} else if to = next; steps > len(aliases) {
				break // a circle
			}
		}
	}
	return out
}

// merged returns the strings of both, sorted and without duplicates.
func merged(a, b []string) []string { return sortedCopy(slices.Concat(a, b)) }

// WellKnown reports whether the key, or the key it is an alias of, is
// well-known.
func (v *Vocabulary) WellKnown(key string) bool {
	v = v.orDefault()
	return v.isWellKnown[v.NormalizeKey(key)]
}

// NamesZone reports whether the key, or the key it is an alias of, is a label other than
// topology.kubernetes.io/zone whose value follows from the zone, such as its ID. If two nodes have
// the same zone, such a label is the same too, unless one of them was read in another account.
func (v *Vocabulary) NamesZone(key string) bool {
	v = v.orDefault()
	_, found := slices.BinarySearch(v.zoneNames, v.NormalizeKey(key))
	return found
}

// Aliases maps each alias of a label to the key that it stands for, which is never another alias. A
// labelled node gets each alias as a second label. The caller owns the map.
func (v *Vocabulary) Aliases() map[string]string {
	return maps.Clone(v.orDefault().aliases)
}

// NormalizeKey returns the key that an alias stands for, and any other key as
// it is.
func (v *Vocabulary) NormalizeKey(key string) string {
	return normalizeKey(v.orDefault().aliases, key)
}

// NormalizeValue returns the value that an alias stands for under a key, and
// any other value as it is. The key may be an alias too.
func (v *Vocabulary) NormalizeValue(key, value string) string {
	v = v.orDefault()
	if to, ok := v.valueAliases[v.NormalizeKey(key)][value]; ok {
		return to
	}
	return value
}

func (v *Vocabulary) normalizeValues(key string, values []string) []string {
	if len(v.orDefault().valueAliases) == 0 {
		return values
	}
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = v.NormalizeValue(key, value)
	}
	return out
}
