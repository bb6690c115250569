package scenario

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// World has the objects that a case declares.
type World struct {
	NodePools     []*v1.NodePool
	InstanceTypes map[string][]*cloudprovider.InstanceType // by pool
	Nodes         []Node
	Pods          []*corev1.Pod
	DaemonSetPods []*corev1.Pod
	Namespaces    []*corev1.Namespace
	Volumes       Volumes
	Devices       Devices // to be matched by Matcher
	Overlays      []*v1.NodeOverlay
	Buffers       []Buffer
	Services      []*corev1.Service
	Controllers   []Controller
	Vocabulary    *requirements.Vocabulary // nil unless the text adds to it

	Options

	// Show has the words of the lines "show": what the test shows in addition.
	Show map[string]bool
}

// Node is an existing node. Its fields are those of provisioning.Node, to
// which it can be converted.
type Node struct {
	Node      *corev1.Node
	NodeClaim *v1.NodeClaim
	Pods      []*corev1.Pod
}

// builder makes a World from blocks of text.
type builder struct {
	world      World
	types      []*cloudprovider.InstanceType
	poolTypes  map[string][]string // names of the types of pools that list them
	vocabulary requirements.Extension
}

func build(blocks []block) (*World, error) {
	b := &builder{
		world:     World{InstanceTypes: map[string][]*cloudprovider.InstanceType{}, Show: map[string]bool{}},
		poolTypes: map[string][]string{},
	}
	var errs []error
	for _, bl := range latest(blocks) {
		if err := b.declare(bl); err != nil {
			errs = append(errs, err)
		}
	}
	if err := b.stock(); err != nil {
		errs = append(errs, err)
	}
	if len(b.vocabulary.WellKnown)+len(b.vocabulary.Aliases) > 0 {
		b.world.Vocabulary = requirements.DefaultVocabulary().Extend(b.vocabulary)
	}
	return &b.world, errors.Join(errs...)
}

// latest leaves out the objects that are declared again further down.
func latest(blocks []block) []block {
	last := map[string]int{}
	key := func(bl block) string {
		name, _, _ := strings.Cut(bl.rest, " ")
		return bl.word + " " + name
	}
	for i, bl := range blocks {
		last[key(bl)] = i
	}
	var out []block
	for i, bl := range blocks {
		if last[key(bl)] == i {
			out = append(out, bl)
		}
	}
	return out
}

func (b *builder) declare(bl block) error {
	switch bl.word {
	case "type":
		return b.addType(bl)
	case "pool":
		return b.addPool(bl)
	case "pod":
		return b.addPods(bl)
	case "daemon":
		return b.addDaemon(bl)
	case "node":
		return b.addNode(bl)
	}
	if known, err := b.declareMore(bl); known {
		return err
	}
	if len(bl.properties) > 0 {
		return bl.properties[0].fault("%q takes no lines below it", bl.word)
	}
	switch bl.word {
	case "options":
		return b.setOptions(bl.line)
	case "default-spread":
		c, err := parseSpread(bl.rest, nil)
		if err != nil {
			return bl.fault("default-spread: %w", err)
		}
		b.world.DefaultSpread = append(b.world.DefaultSpread, c)
		return nil
	case "well-known":
		b.vocabulary.WellKnown = append(b.vocabulary.WellKnown, list(bl.rest)...)
		return nil
	case "alias":
		old, name, ok := strings.Cut(bl.rest, "=")
		if !ok {
			return bl.fault("alias: %q is not OLD=NEW", bl.rest)
		}
		if b.vocabulary.Aliases == nil {
			b.vocabulary.Aliases = map[string]string{}
		}
		b.vocabulary.Aliases[old] = longKey(name)
		return nil
	case "show":
		for _, word := range list(bl.rest) {
			b.world.Show[word] = true
		}
		return nil
	}
	return bl.fault("%q is not known; declare one of %s", bl.word, strings.Join(kinds(), ", "))
}

// kinds lists the words that begin a declaration.
func kinds() []string {
	return []string{
		"type", "pool", "pod", "daemon", "node", "namespace", "class", "volume", "claim", "csi-driver", "storage-capacity", "attachment", "overlay", "buffer", "service",
		"controller", "device-class", "device-claim", "device-template", "options", "default-spread", "well-known", "alias", "show",
	}
}

// declareMore reads all objects except types, pools, pods and nodes.
func (b *builder) declareMore(bl block) (known bool, err error) {
	switch bl.word {
	case "namespace":
		err = b.addNamespace(bl)
	case "class":
		err = b.addClass(bl)
	case "volume":
		err = b.addVolume(bl)
	case "csi-driver":
		err = b.addDriver(bl)
	case "storage-capacity":
		err = b.addCapacity(bl)
	case "attachment":
		err = b.addAttachment(bl)
	case "claim":
		err = b.addClaims(bl)
	case "overlay":
		err = b.addOverlay(bl)
	case "buffer":
		err = b.addBuffer(bl)
	case "service":
		err = b.addService(bl)
	case "controller":
		err = b.addController(bl)
	case "device-class":
		err = b.addDeviceClass(bl)
	case "device-claim":
		err = b.addDeviceClaims(bl)
	case "device-template":
		err = b.addDeviceTemplate(bl)
	default:
		return false, nil
	}
	return true, err
}

// stock assigns the instance types to the pools.
func (b *builder) stock() error {
	byName := map[string]*cloudprovider.InstanceType{}
	for _, t := range b.types {
		byName[t.Name] = t
	}
	for _, pool := range b.world.NodePools {
		names, chosen := b.poolTypes[pool.Name]
		if !chosen {
			b.world.InstanceTypes[pool.Name] = append([]*cloudprovider.InstanceType(nil), b.types...)
			continue
		}
		for _, name := range names {
			t := byName[name]
			if t == nil {
				return fmt.Errorf("pool %s: there is no type %q", pool.Name, name)
			}
			b.world.InstanceTypes[pool.Name] = append(b.world.InstanceTypes[pool.Name], t)
		}
	}
	return nil
}

// each calls set for each line below a declaration. Errors name the line.
func each(bl block, set func(l line) error) error {
	var errs []error
	for _, l := range bl.properties {
		if err := set(l); err != nil {
			errs = append(errs, l.fault("%s %s: %s: %w", bl.word, bl.rest, l.word, err))
		}
	}
	return errors.Join(errs...)
}

// errUnknown is the error for a line that an object does not accept.
var errUnknown = errors.New("is not known here")
