package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// part is one document of a source, while it is converted.
type part struct {
	textstream.Part
	source  string
	root    *yaml.Node
	was     []byte    // the text as it was read
	list    bool      // the document is a List or an array, and objects are its items
	objects []*object // none if the document could not be read
	notes   []Note
}

// note adds a note on a line of the text.
func (p *part) note(line int, n Note) {
	n.Source, n.Line, n.Message = p.source, p.Line+line-1, oneLine(n.Message)
	p.notes = append(p.notes, n)
}

// object is one object of a document.
type object struct {
	part    *part
	node    *yaml.Node
	doc     karpv1.Document
	kind    schema.GroupVersionKind
	name    string           // behind the namespace, if there is one
	asked   []string         // the fields of notes of severity Action and more
	refused bool             // it stays as it is, and a note says why
	now     []runtime.Object // the converted object, and the objects added for it; none if the object stays as it is
}

// note adds a note on a field.
func (o *object) note(severity Severity, path, format string, args ...any) {
	_, line := textstream.Find(o.node, path)
	o.part.note(line, Note{Object: o.String(), Field: oneLine(path), Severity: severity, Message: fmt.Sprintf(format, args...)})
	if severity >= Action {
		o.asked = append(o.asked, strings.Replace(path, "spec.provider.", "spec.", 1))
	}
}

// String returns the kind and name of the object: "Deployment shop/web".
func (o *object) String() string { return oneLine(o.kind.Kind + " " + cmp.Or(o.name, "(no name)")) }

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

const asIs = "left as it is: "           // begins the notes on objects that are not converted
const thenConvert = "convert the result" // what to do with a template once it is rendered

// refuse leaves the object as it is.
func (o *object) refuse(path, format string, args ...any) {
	o.refused = true
	o.note(Error, path, asIs+format, args...)
}

// read splits a source into documents, and these into objects.
func (c *converter) read(s Source) (parts []*part) {
	for _, t := range textstream.Parts(textstream.UTF8(s.Data)) {
		p := &part{Part: t, source: s.Name, was: t.Text}
		parts = append(parts, p)
		if textstream.Blank(t.Text) {
			continue
		}
		if line, err := p.parse(); err != nil {
			severity := Info
			if _, broken := errors.AsType[syntaxError](err); broken || mentionsOld(t.Text) || c.options.Check && mentions(t.Text, karpv1.Group+"/", awsv1.Group+"/") {
				severity = Error
			}
			*p = part{Part: t, source: s.Name}
			p.note(line, Note{Severity: severity, Message: asIs + err.Error()})
		}
		c.objects = append(c.objects, p.objects...)
	}
	return parts
}

// mentions reports whether a text contains one of the words.
func mentions(text []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(word)) })
}

// mentionsOld reports whether a text that is not parsed may contain something to convert.
func mentionsOld(text []byte) bool {
	return mentions(text, coreAlpha, coreBeta, awsAlpha, awsBeta) ||
		slices.ContainsFunc(words(), func(w word) bool { return mentions(text, w.from) })
}

// syntaxError is the error of a text that is neither YAML nor JSON, and no template of either.
type syntaxError struct{ error }

// parse reads the objects of a document. An error comes with its line of the text, from 1.
func (p *part) parse() (line int, err error) {
	switch {
	case bytes.HasPrefix(p.Text, []byte("\x1f\x8b")):
		return 1, syntaxError{errors.New("it is compressed; convert what gunzip makes of it")}
	case !utf8.Valid(p.Text):
		return 1, syntaxError{errors.New("it is not valid UTF-8; convert a text of YAML or JSON")}
	}
	line, message := textstream.Shaped(p.Text, thenConvert)
	if line > 0 {
		return line, errors.New("it " + message)
	}
	if p.root, err = textstream.Parse(p.Text); err == nil {
		p.rename()
		err = p.open()
	} else {
		err = syntaxError{err}
	}
	if line, message = textstream.Unrendered(p.Text, thenConvert); err != nil && line > 0 {
		if _, filled := textstream.Parse(textstream.Filled(p.Text)); filled == nil {
			return line, errors.New("it " + message)
		}
	}
	if broken, ok := errors.AsType[*karpv1.DecodeError](err); ok && broken.Line > 0 && broken.Err != nil {
		return broken.Line, broken.Err
	}
	return 1 + bytes.Count(p.head(), []byte("\n")), err
}

// open reads the objects of a document whose text was parsed.
func (p *part) open() error {
	nodes := []*yaml.Node{p.root}
	if p.root.Kind == yaml.SequenceNode {
		if nodes, p.list = p.root.Content, true; !slices.ContainsFunc(nodes, func(n *yaml.Node) bool { return textAt(n, "kind") != "" }) {
			return errors.New("want an object with apiVersion and kind, got a list")
		}
	} else if items, _ := textstream.Find(p.root, "items"); items != nil && items.Kind == yaml.SequenceNode && strings.HasSuffix(textAt(p.root, "kind"), "List") {
		nodes, p.list = items.Content, true
	}
	docs, err := karpv1.Documents(p.Text)
	if p.list && slices.ContainsFunc(nodes, func(n *yaml.Node) bool { return strings.HasSuffix(textAt(n, "kind"), "List") }) {
		err = errors.New("a List in a List is not read; unfold it")
	} else if err == nil && len(docs) != len(nodes) {
		err = errors.New("it holds no object")
	}
	for i := 0; err == nil && i < len(nodes); i++ {
		o := &object{part: p, doc: docs[i], kind: docs[i].GroupVersionKind(), name: docs[i].Name()}
		o.node, _ = textstream.Find(nodes[i], "")
		if namespace := textAt(o.node, "metadata.namespace"); namespace != "" {
			o.name = namespace + "/" + o.name
		}
		p.objects = append(p.objects, o)
	}
	return err
}

// head returns the blank lines and comments before the object.
func (p *part) head() (head []byte) {
	for line := range bytes.Lines(p.Text) {
		if !textstream.Blank(line) {
			break
		}
		head = append(head, line...)
	}
	return head
}

// word is a label or annotation of old versions that was renamed; why is the text after "is TO
// now".
type word struct {
	from, to string
	severity Severity
	why      string
}

// words returns all renamed labels and annotations.
func words() []word {
	const drains = "; an expired node begins to drain all the same, and waits for the pod unless it has a terminationGracePeriod"
	return []word{
		{"karpenter.sh/provisioner-name", karpv1.NodePoolLabelKey, Info, "; nodes of a Provisioner keep the old label"},
		{"karpenter.sh/do-not-evict", karpv1.DoNotDisruptAnnotationKey, Info, drains},
		{"karpenter.sh/do-not-consolidate", karpv1.DoNotDisruptAnnotationKey, Warning, ", which also prevents replacement for drift, and not only consolidation"},
		{"karpenter.sh/provisioner-hash", karpv1.NodePoolHashAnnotationKey, Info, "; the controller computes it anew"},
		{"karpenter.k8s.aws/nodetemplate-hash", awsv1.EC2NodeClassHashAnnotationKey, Info, "; the controller computes it anew"},
	}
}

// anyKey is a label, annotation or taint of Karpenter in a text.
var anyKey = regexp.MustCompile(`karpenter\.(sh|k8s\.aws)/[a-z-]+`)

// rename replaces the words of old versions in the text of a document of any kind, each with a
// note: in pods, in Nodes, in Karpenter's objects and in scripts. If a key would appear twice then,
// none is replaced. The taint of nodes that are being disrupted stays, because it had a value.
func (p *part) rename() {
	line := 0
	note := func(severity Severity, message string) { p.note(line, Note{Severity: severity, Message: message}) }
	replace := func(found []byte) []byte {
		name := string(found)
		if name == "karpenter.sh/disruption" {
			note(Action, name+" is "+karpv1.DisruptedTaintKey+" now, a taint without a value; write this, and the operator Exists in a toleration")
		}
		for _, w := range words() {
			if w.from == name {
				note(w.severity, name+" is "+w.to+" now"+w.why)
				return []byte(w.to)
			}
		}
		return found
	}
	p.Text = nil
	for text := range bytes.Lines(p.was) {
		line++
		p.Text = append(p.Text, anyKey.ReplaceAllFunc(text, replace)...)
	}
	if v := any(nil); len(p.notes) > 0 && yaml.Unmarshal(p.Text, &v) != nil {
		p.Text, p.notes, line = p.was, nil, p.root.Line
		note(Action, "labels or annotations of old versions stay, because those of today are there as well; keep one of the two of each")
	}
}

// each calls do for a node and all nodes below it, without following aliases.
func each(n *yaml.Node, do func(*yaml.Node)) {
	do(n)
	for _, inner := range n.Content {
		each(inner, do)
	}
}

// unfit returns the first value or key that only a template or a patch can have, and a message
// about it. Texts of several lines, such as user data, are not checked.
func unfit(root *yaml.Node) (found *yaml.Node, message string) {
	each(root, func(n *yaml.Node) {
		switch {
		case found != nil:
		case n.Value == "$patch" || n.Value == "$retainKeys":
			found, message = n, "is a Kustomize patch; convert what kustomize build prints"
		case n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "{{") && !strings.Contains(n.Value, "\n"):
			found, message = n, textstream.Mark(n.Value, thenConvert)
		}
	})
	return found, message
}

// textAt returns the text at a path, and "" if the value there is not a text.
func textAt(n *yaml.Node, path string) string {
	if n, _ = textstream.Find(n, path); n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// written returns the text of a source with its converted documents.
func written(data []byte, parts []*part) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		text := p.Text
		if len(p.objects) == 1 && p.objects[0].refused { // it stays, with its words
			text, p.notes = p.was, slices.DeleteFunc(p.notes, func(n Note) bool { return n.Object == "" })
		} else if slices.ContainsFunc(p.objects, func(o *object) bool { return o.now != nil }) {
			if now, err := p.write(); err != nil {
				p.note(p.root.Line, Note{Severity: Error, Message: asIs + "what it becomes cannot be written: " + err.Error()})
			} else {
				text = now
			}
		}
		b.WriteString(p.Marker)
		b.Write(text)
	}
	if bytes.Equal(b.Bytes(), textstream.UTF8(data)) {
		return bytes.Clone(data)
	}
	return b.Bytes()
}

// write returns the comments in front of a document, and its objects as they are now.
func (p *part) write() ([]byte, error) {
	var items []json.RawMessage
	for _, o := range p.objects {
		if o.now == nil {
			items = append(items, o.doc.JSON())
		}
		for _, now := range o.now {
			items = append(items, encoded(now))
		}
	}
	if p.list && p.root.Kind == yaml.SequenceNode {
		items = []json.RawMessage{encoded(items)}
	} else if p.list {
		items = []json.RawMessage{encoded(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})}
	}
	var b bytes.Buffer
	if b.Write(p.head()); b.Len() == 0 && p.Marker == "---" {
		b.WriteByte('\n')
	}
	for i, data := range items {
		text, err := documented(data, p.JSON)
		if err != nil {
			return nil, err
		}
		if i > 0 && !p.JSON {
			b.WriteString("---\n")
		}
		b.WriteString(text)
	}
	p.reportComments()
	return b.Bytes(), nil
}

// reportComments makes a note of the comments that are not in front of the object, which are left out.
func (p *part) reportComments() {
	lines, head, after := slices.Collect(maps.Keys(maps.Collect(textstream.Comments(p.Text)))), bytes.Count(p.head(), []byte("\n")), ""
	each(p.root, func(n *yaml.Node) {
		if n.LineComment != "" {
			lines = append(lines, n.Line)
		}
	})
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		if line > head {
			after += fmt.Sprintf(" %d", p.Line+line-1)
		}
	}
	if after != "" {
		p.note(p.root.Line, Note{Severity: Warning, Message: "the comments on these lines are left out; copy what you need:" + after})
	}
}

// keyOrder is the order of keys in Karpenter's documentation. Other keys follow, by name.
const keyOrder = " apiVersion group kind key operator value values effect minValues name namespace metadata labels annotations" +
	" ownerReferences finalizers spec template kubelet amiFamily subnetSelectorTerms securityGroupSelectorTerms role instanceProfile" +
	" amiSelectorTerms tags metadataOptions blockDeviceMappings instanceStorePolicy userData detailedMonitoring associatePublicIPAddress" +
	" nodeClassRef taints startupTaints expireAfter requirements resources disruption consolidationPolicy consolidateAfter budgets nodes" +
	" reasons schedule duration limits weight deviceName rootVolume ebs volumeSize volumeType iops encrypted kmsKeyID" +
	" deleteOnTermination throughput snapshotID type status "

// documented writes JSON in the order of the documentation, as YAML or as indented JSON. The
// encoder of YAML writes a text with blanks at the ends of lines, such as user data, on one line
// with escapes. So a marker is put behind the blanks and removed afterwards. If the result would
// parse to another value, no marker is used.
func documented(data []byte, asJSON bool) (string, error) {
	var b bytes.Buffer
	if asJSON {
		err := json.Indent(&b, data, "", "    ")
		return b.String() + "\n", err
	}
	for _, fence := range []string{"|fence|", ""} {
		var want, got any
		root, err := textstream.Parse(bytes.ReplaceAll(data, []byte("\u0085"), []byte(`\u0085`))) // to YAML it ends a line
		if err == nil {
			err = root.Decode(&want)
		}
		if err != nil {
			return "", err
		}
		arrange(root, fence)
		b.Reset()
		encoder := yaml.NewEncoder(&b)
		if encoder.SetIndent(2); encoder.Encode(root) != nil {
			continue
		}
		text := strings.ReplaceAll(b.String(), fence, "")
		if yaml.Unmarshal([]byte(text), &got) == nil && reflect.DeepEqual(want, got) {
			return text, nil
		}
	}
	return "", errors.New("it does not read back as it was meant")
}

var blanksBeforeEnd = regexp.MustCompile(`(?m) +$`)

// arrange puts keys in order, and gives values the style of the documentation.
func arrange(n *yaml.Node, fence string) {
	n.Style = 0
	if quoted := (&yaml.Node{}); n.ShortTag() == "!!str" && quoted.Encode(n.Value) == nil {
		n.Style = quoted.Style // with quotes also around yes, no, on and off
	}
	if strings.ContainsAny(n.Value, "\r\u0085\u2028\u2029\ufeff") {
		n.Style = yaml.DoubleQuotedStyle // readers take these for ends of lines, or drop them
	} else if strings.Contains(n.Value, "\n") {
		n.Style, n.Value = yaml.LiteralStyle, blanksBeforeEnd.ReplaceAllString(n.Value, "${0}"+fence)
	}
	for _, inner := range n.Content {
		arrange(inner, fence)
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	pairs := slices.Collect(slices.Chunk(slices.Clone(n.Content), 2))
	slices.SortFunc(pairs, func(a, b []*yaml.Node) int {
		i, j := strings.Index(keyOrder, " "+a[0].Value+" "), strings.Index(keyOrder, " "+b[0].Value+" ")
		return cmp.Or(cmp.Compare(uint(i), uint(j)), cmp.Compare(a[0].Value, b[0].Value)) // unknown keys, with -1, come last
	})
	n.Content = slices.Concat(pairs...)
}
