package v1

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Decode reads one object from YAML or JSON and returns it as *NodePool,
// *NodeClaim, *NodeOverlay or one of their lists, as its kind says.
//
// Decoding is strict. These are faults, and all of them are returned at once in
// a *DecodeError, each with its path:
//
//   - a field that the kind does not have, with the right spelling if one is
//     near, or the right place if the field exists elsewhere
//   - a key that appears twice in one object
//   - a value of the wrong type, such as a number where a string is asked for
//   - a text that the Go type accepts and the API server refuses: a grace period or budget duration
//     such as 1.5h, an amount such as 0.5 without quotes, a policy, budget or taint value that is
//     an empty string
//   - a missing, unknown or outdated kind or apiVersion
//
// Numbers are read as the API server reads them, 1.0 and 1e0 as 1, except for replicas and for
// numbers in rules of the schema: the minValues of an In requirement, the limit on nodes of a
// static pool.
//
// Field names are case-sensitive. null is the same as leaving a field out,
// except within a list or a map of strings, where it is a fault. Text after the
// first object is a fault; use DecodeAll.
//
// The object is neither defaulted nor validated: call Default, then Validate.
func Decode(data []byte) (runtime.Object, error) {
	doc, err := single(data)
	if err != nil {
		return nil, err
	}
	return doc.decode()
}

// DecodeNodePool is Decode for a NodePool; any other kind is a fault.
func DecodeNodePool(data []byte) (*NodePool, error) {
	out := &NodePool{}
	return ifRead(out, DecodeInto(data, GroupVersion.WithKind(NodePoolKind), out))
}

// DecodeNodeClaim is Decode for a NodeClaim; any other kind is a fault.
func DecodeNodeClaim(data []byte) (*NodeClaim, error) {
	out := &NodeClaim{}
	return ifRead(out, DecodeInto(data, GroupVersion.WithKind(NodeClaimKind), out))
}

// DecodeNodeOverlay is Decode for a NodeOverlay; any other kind is a fault.
func DecodeNodeOverlay(data []byte) (*NodeOverlay, error) {
	out := &NodeOverlay{}
	return ifRead(out, DecodeInto(data, GroupVersionAlpha.WithKind(NodeOverlayKind), out))
}

// ifRead returns the object, or nil with an error.
func ifRead[T any](out *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DecodeInto reads one object of the given kind from YAML or JSON into out, which is a pointer to
// its Go type and normally new, as strictly as Decode. It serves the kinds of other packages, such
// as the NodeClass of a provider. A field with the tag required:"true" must be present, which
// matters for numbers, one with the tag plain:"true" is a number without point or exponent, and one
// with the tag filled:"true" is no empty string.
// After an error out is unchanged.
func DecodeInto(data []byte, kind schema.GroupVersionKind, out runtime.Object) error {
	doc, err := single(data)
	if err != nil {
		return err
	}
	return doc.Into(kind, out)
}

// DecodeAll reads every object of a YAML stream or a JSON text, in order, as strictly as Decode.
// The items of a NodePoolList, or of a List as kubectl prints it, are returned one by one. Empty
// documents are skipped. The faults of all objects are joined; if there is one, no object is
// returned. For a stream with other kinds use Documents. The caller owns the objects.
func DecodeAll(data []byte) ([]runtime.Object, error) {
	docs, err := Documents(data)
	errs := []error{err}
	var out []runtime.Object
	for _, doc := range docs {
		obj, err := doc.decode()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, obj)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// decode chooses the Go type by the kind.
func (d Document) decode() (runtime.Object, error) {
	want, ok := GroupVersionKindOf(d.kind.Kind)
	if !ok {
		return nil, d.fail(field.ErrorList{unknownKind(d.kind.Kind)})
	}
	out := newObject(want.Kind)
	if err := d.Into(want, out); err != nil {
		return nil, err
	}
	return out, nil
}

func newObject(kind string) runtime.Object {
	switch kind {
	case NodePoolKind:
		return &NodePool{}
	case NodePoolListKind:
		return &NodePoolList{}
	case NodeClaimKind:
		return &NodeClaim{}
	case NodeClaimListKind:
		return &NodeClaimList{}
	case NodeOverlayKind:
		return &NodeOverlay{}
	}
	return &NodeOverlayList{}
}

func unknownKind(kind string) *field.Error {
	const use = "use NodePool, NodeClaim or NodeOverlay"
	path := field.NewPath("kind")
	switch kind {
	case "":
		return field.Required(path, use)
	case "Provisioner":
		return field.Invalid(path, kind, "a Provisioner of karpenter.sh/v1alpha5 is a NodePool of "+GroupVersion.String()+" today; convert it")
	case "Machine":
		return field.Invalid(path, kind, "a Machine of karpenter.sh/v1alpha5 is a NodeClaim of "+GroupVersion.String()+" today; convert it")
	}
	return field.Invalid(path, kind, use)
}

// checkKind compares apiVersion and kind with the wanted ones. If they differ no fields are
// checked, because those of another kind would all be unknown.
func (d Document) checkKind(want schema.GroupVersionKind) field.ErrorList {
	var faults field.ErrorList
	apiVersion, kind := want.ToAPIVersionAndKind()
	path := field.NewPath("apiVersion")
	switch got := d.kind.GroupVersion(); {
	case d.apiVersion == "":
		faults = append(faults, field.Required(path, "write apiVersion: "+apiVersion))
	case got == want.GroupVersion():
	case got.Group == want.Group:
		faults = append(faults, field.Invalid(path, d.apiVersion,
			fmt.Sprintf("only %s is read; convert the manifest, the fields of other versions differ", apiVersion)))
	default:
		faults = append(faults, field.Invalid(path, d.apiVersion, fmt.Sprintf("want %s for a %s", apiVersion, kind)))
	}
	path = field.NewPath("kind")
	switch d.kind.Kind {
	case kind:
	case "":
		faults = append(faults, field.Required(path, "write kind: "+kind))
	default:
		faults = append(faults, field.Invalid(path, d.kind.Kind, "want "+kind))
	}
	return faults
}

// DecodeError has all faults of one object of a text.
//
// +k8s:deepcopy-gen=false
type DecodeError struct {
	// Document is the position of the object in the text, counted from 1, counting each item of a
	// list; 0 if the text is one object.
	Document int
	// Kind is the kind that the object claims, "" if it does not.
	Kind string
	// Name is metadata.name, "" if there is none.
	Name string
	// Faults are the faults that have a path, in the order of the paths.
	Faults field.ErrorList
	// Err is a fault of the text as a whole, such as broken syntax. Either
	// Faults or Err is set.
	Err error
	// Line is the line of the text, from 1, on which Documents found the fault, or on which the
	// document begins that has it. It is 0 for faults of decoding: Document.Line has the lines of
	// their fields.
	Line int
}

// Error names the object, then all faults, separated by semicolons.
func (e *DecodeError) Error() string {
	parts := make([]string, 0, len(e.Faults)+1)
	if e.Err != nil && e.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d: %v", e.Line, e.Err))
	} else if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	for _, fault := range e.Faults {
		parts = append(parts, fault.Error())
	}
	return e.subject() + ": " + strings.Join(parts, "; ")
}

// Unwrap returns every fault, for errors.Is and errors.As.
func (e *DecodeError) Unwrap() []error {
	var errs []error
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	for _, fault := range e.Faults {
		errs = append(errs, fault)
	}
	return errs
}

func (e *DecodeError) subject() string {
	var parts []string
	if e.Document > 0 {
		parts = append(parts, fmt.Sprintf("document %d", e.Document))
	}
	switch {
	case e.Kind != "" && e.Name != "":
		parts = append(parts, fmt.Sprintf("%s %q", e.Kind, e.Name))
	case e.Kind != "":
		parts = append(parts, e.Kind)
	case e.Name != "":
		parts = append(parts, fmt.Sprintf("object %q", e.Name))
	}
	if len(parts) == 0 {
		return "decode"
	}
	return strings.Join(parts, ", ")
}

func (d Document) fail(faults field.ErrorList) error {
	return &DecodeError{Document: d.index, Kind: d.kind.Kind, Name: d.name, Faults: faults}
}

func (d Document) wrap(err error) error {
	return &DecodeError{Document: d.index, Kind: d.kind.Kind, Name: d.name, Err: err}
}

// faultOfText returns a fault that is found before the document is decoded.
func (d Document) faultOfText(err error) error {
	return &DecodeError{Kind: d.kind.Kind, Name: d.name, Err: err, Line: d.Line("")}
}
