package convert

import (
	"bytes"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// Source is a named text to convert.
type Source struct {
	// Name is for notes, such as the name of a file.
	Name string
	// Data is a YAML stream, a JSON text, or several JSON texts in a row.
	Data []byte
}

// Options settle what manifests alone do not say. The zero value leaves
// placeholders, and Notes that ask for them.
type Options struct {
	// Role is the IAM role of nodes for classes that name neither a role nor an
	// instance profile. Empty is RolePlaceholder, which Karpenter's own converter
	// wrote too.
	Role string
	// InstanceProfile takes the place of Role, as aws.defaultInstanceProfile of
	// the global settings did. A ConfigMap karpenter-global-settings among the
	// sources does the same; this field wins over it.
	InstanceProfile string
	// Tags are added to every class that is converted from v1alpha1, as aws.tags
	// of the global settings did, unless it sets the same key. They are joined
	// with those of a ConfigMap karpenter-global-settings, and win over them.
	Tags map[string]string
	// AMIVersion is the version of aliases, such as v20240807, for classes that
	// took the newest image of their family. Empty is latest. Windows has no
	// other.
	AMIVersion string
	// Check judges NodePools, NodeClaims and EC2NodeClasses of v1 as well, and
	// NodeOverlays, which need no conversion: what is wrong with them, and a placeholder that was not
	// replaced, becomes a Note of severity Action. They stay as they are. Of kinds
	// that Karpenter's versions do not differ in, and of the definitions of
	// Karpenter's, there is no Note then. A text with one of Karpenter's groups that cannot
	// be read has a Note of severity Error.
	Check bool
}

// Placeholders that are left for the reader to replace.
const (
	// RolePlaceholder stands for the IAM role of nodes.
	RolePlaceholder = "$KARPENTER_NODE_ROLE"
	// NodeClassPlaceholder stands for the name of an EC2NodeClass.
	NodeClassPlaceholder = "$KARPENTER_NODE_CLASS"
	// AMIPlaceholder stands for the id of an image.
	AMIPlaceholder = "ami-placeholder"
)

// Output is what became of a Source.
type Output struct {
	// Name is that of the Source.
	Name string
	// Data is the text of v1, in UTF-8. If nothing changed it equals the input, in
	// whatever encoding that is.
	Data []byte
	// Changed says whether anything was converted.
	Changed bool
}

// Result is what became of all sources.
type Result struct {
	// Outputs are in the order of the sources.
	Outputs []Output
	// Notes are in the order of the input: by source, document and object.
	Notes []Note
}

// Changed says whether anything was converted in any source.
func (r *Result) Changed() bool {
	return slices.ContainsFunc(r.Outputs, func(o Output) bool { return o.Changed })
}

// Stream returns all outputs as one YAML stream in UTF-8, in order, each beginning with
// a document of its own. Outputs without text are left out.
func (r *Result) Stream() []byte {
	var out []byte
	for _, o := range r.Outputs {
		out = appendText(out, o.Data)
	}
	return out
}

// appendText adds a text to a stream.
func appendText(stream, text []byte) []byte {
	text = textstream.UTF8(text)
	if len(bytes.TrimSpace(text)) == 0 {
		return stream
	}
	if len(stream) == 0 {
		return append(stream, text...)
	}
	if stream[len(stream)-1] != '\n' {
		stream = append(stream, '\n')
	}
	switch first := textstream.Parts(text); {
	case bytes.HasPrefix(text, []byte("%")): // a directive, which the end of a document must precede
		stream = append(stream, "...\n"...)
	case len(first[0].Text) > 0 || len(first) == 1:
		stream = append(stream, "---\n"...)
	}
	return append(stream, text...)
}

// Convert rewrites all sources together. Nil options are the zero value.
//
// There is no error: what cannot be read or is not known is passed on as it is,
// with a Note. These are the steps:
//
//  1. Sources are cut into documents, and documents of kind List into objects.
//  2. A ConfigMap karpenter-global-settings is read, and stays.
//  3. Each object is rewritten by its kind.
//  4. Kubelet settings of pools are given to their EC2NodeClasses, and the
//     expiry of pools to their NodeClaims.
//  5. Objects that were rewritten are decoded and validated; what is wrong with
//     them, but for values that hold templating, becomes a Note. With
//     Options.Check so are those that are of v1 already.
//  6. Objects of Karpenter of one kind and name are pointed out. All of them are kept.
//  7. Documents that changed are written anew. What is added to a document, such
//     as the EC2NodeClass of an inline provider, follows it, or its item of a
//     List. Comments that had to be left out are pointed out.
//
// It takes time and memory in proportion to the texts. The result is the caller's.
func Convert(opts *Options, sources ...Source) *Result {
	c := newConverter(opts)
	for _, s := range sources {
		c.read(s)
	}
	c.readSettings()
	c.nameClasses()
	for _, o := range c.objects {
		c.rewrite(o)
	}
	c.moveKubelets()
	c.expireClaims()
	c.check()
	c.reportDuplicates()
	if !c.options.Check {
		c.reportForeign()
	}
	result := &Result{}
	for _, f := range c.files {
		result.Outputs = append(result.Outputs, c.write(f))
	}
	c.reportComments()
	result.Notes = sorted(c.notes)
	return result
}

// Bytes converts one text without a name, as Convert does.
func Bytes(data []byte, opts *Options) ([]byte, []Note) {
	r := Convert(opts, Source{Data: data})
	return r.Outputs[0].Data, r.Notes
}
