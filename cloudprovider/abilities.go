package cloudprovider

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// As returns the first provider that has the methods of T: p itself, or the one found by following
// Unwrap() CloudProvider from p. It reports false if there is none, or if p is nil. T is an
// interface with the methods of an ability, such as DriftDetector or one of the caller's own. The
// functions of this package find abilities this way, so a wrapper that implements an ability hides
// that of the inner provider.
//
// A wrapper cannot know in advance which abilities its inner provider has. To wrap an ability only
// if the inner provider has it, the wrapper has a method
//
//	As(target any) bool
//
// which is asked before Unwrap is followed. target is a *T; if the wrapper offers T, it sets
// *target and returns true, as in errors.As.
func As[T any](p CloudProvider) (ability T, found bool) {
	for p != nil {
		if ability, found = p.(T); found {
			return ability, true
		}
		if offers, ok := p.(interface{ As(target any) bool }); ok && offers.As(&ability) {
			return ability, true
		}
		wrapper, ok := p.(interface{ Unwrap() CloudProvider })
		if !ok {
			break
		}
		p = wrapper.Unwrap()
	}
	return ability, false
}

// unsupported returns the error for a call of an ability that p does not have.
func unsupported(p CloudProvider, op, object string) error {
	name := Name(p)
	if name == "" {
		name = fmt.Sprintf("%T", p)
	}
	return &Error{Op: op, Kind: KindUnsupported, Object: object,
		Err: fmt.Errorf("provider %s cannot do that: %w", name, ErrUnsupported)}
}

// Namer is a provider with a name.
type Namer interface {
	// Name returns a short name such as "aws", for texts and metrics. It is
	// constant.
	Name() string
}

// Name returns the name of p, and "" if p is not a Namer.
func Name(p CloudProvider) string {
	if n, ok := As[Namer](p); ok {
		return n.Name()
	}
	return ""
}

// VocabularyProvider is a provider with additional labels.
type VocabularyProvider interface {
	// Vocabulary returns the well-known labels, aliases and restricted domains
	// in force with this provider: the default vocabulary, extended. The value
	// is constant and read-only.
	Vocabulary() *requirements.Vocabulary
}

// Vocabulary returns the vocabulary of p. If p is no VocabularyProvider, or
// returns nil, it is requirements.DefaultVocabulary.
func Vocabulary(p CloudProvider) *requirements.Vocabulary {
	if vp, ok := As[VocabularyProvider](p); ok {
		if v := vp.Vocabulary(); v != nil {
			return v
		}
	}
	return requirements.DefaultVocabulary()
}

// NodeClassSupporter is a provider that says which node classes are its own.
type NodeClassSupporter interface {
	// SupportedNodeClasses returns the group and kind of each node class that
	// the provider launches from. The list is constant and read-only.
	SupportedNodeClasses() []schema.GroupKind
}

// SupportsNodeClass reports whether p launches nodes from node classes of this
// group and kind. A pool whose node class is not supported belongs to another
// provider and is left alone. A p that is no NodeClassSupporter supports all.
func SupportsNodeClass(p CloudProvider, class schema.GroupKind) bool {
	s, ok := As[NodeClassSupporter](p)
	if !ok {
		return true
	}
	for _, supported := range s.SupportedNodeClasses() {
		if supported == class {
			return true
		}
	}
	return false
}

// NodeClassChecker is a provider that knows when a node class can be used.
type NodeClassChecker interface {
	// NodeClassReady returns nil if nodes can be launched from the node class now. Errors:
	// KindNotReady with what is missing, KindNotFound if it does not exist. It answers from memory,
	// without waiting.
	NodeClassReady(ctx context.Context, ref v1.NodeClassReference) error
}

// NodeClassReady returns nil if nodes can be launched from the node class now, and otherwise an
// error that says why not: of KindUnsupported if SupportsNodeClass says no, else what the provider
// returns. If p is not a NodeClassChecker, every supported node class is ready.
func NodeClassReady(ctx context.Context, p CloudProvider, ref v1.NodeClassReference) error {
	if class := ref.GroupKind(); !SupportsNodeClass(p, class) {
		return unsupported(p, "NodeClassReady", class.String()+" "+ref.Name)
	}
	if c, ok := As[NodeClassChecker](p); ok {
		return c.NodeClassReady(ctx, ref)
	}
	return nil
}

// Drift says how a machine differs from one that would be launched today. The zero Drift means no
// difference.
type Drift struct {
	// Reason is a word that the provider defines, such as "AMIDrift". It becomes the reason of the
	// NodeClaim's Drifted condition. Empty means no drift.
	Reason string
	// Detail is one line on what differs, and from what.
	Detail string
}

// DriftDetector is a provider that detects drift which the engine cannot see: of the image, the
// network, the node class.
type DriftDetector interface {
	// IsDrifted compares the machine of claim, named by claim.Status.ProviderID, with what its node
	// class asks for now. It returns the zero Drift if they agree or if the comparison is not
	// possible. Of several differences it reports the first in a fixed order. It is called for
	// every NodeClaim every few minutes, so it works from caches. Errors: KindNotFound if the
	// machine or the node class is gone.
	IsDrifted(ctx context.Context, claim *v1.NodeClaim) (Drift, error)
}

// IsDrifted asks p whether the machine of claim has drifted. If p is not a DriftDetector the error
// wraps ErrUnsupported. Drift from the NodePool is the engine's part and is not included.
func IsDrifted(ctx context.Context, p CloudProvider, claim *v1.NodeClaim) (Drift, error) {
	if d, ok := As[DriftDetector](p); ok {
		return d.IsDrifted(ctx, claim)
	}
	object := ""
	if claim != nil {
		object = claim.Name
	}
	return Drift{}, unsupported(p, "IsDrifted", object)
}

// Rebooter is a provider that can restart machines.
type Rebooter interface {
	// Reboot asks the cloud to restart the instance and returns nil once the cloud has accepted;
	// the machine may come back minutes later. It is idempotent on operation: all calls with the
	// same one restart the machine at most once. Choose a new operation for each wanted restart,
	// and keep it over retries and restarts of the caller. Errors: KindNotFound if the instance is
	// gone, KindDenied if it cannot be restarted, KindThrottled.
	Reboot(ctx context.Context, id, operation string) error
}

// Reboot asks p to restart the instance. If p is not a Rebooter the error wraps ErrUnsupported:
// replace the node instead.
func Reboot(ctx context.Context, p CloudProvider, id, operation string) error {
	if r, ok := As[Rebooter](p); ok {
		return r.Reboot(ctx, id, operation)
	}
	return unsupported(p, "Reboot", id)
}
