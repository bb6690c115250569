package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// file is a source while it is worked on.
type file struct {
	source Source
	index  int
	docs   []*document
}

// document is one document of a file.
type document struct {
	textstream.Part
	file    *file
	number  int        // counts those that hold anything; 0 for the others
	json    bool       // the text is JSON, and is written as such
	words   *templated // what was hidden in the text
	top     *yaml.Node // of kind DocumentNode; nil if there is nothing to convert
	remarks []comment  // of the text
	changed bool
	written string       // what was written for a text that changed
	extras  []*yaml.Node // documents to add behind it

	lists map[*yaml.Node]bool         // Lists with items to add
	added map[*yaml.Node][]*yaml.Node // by the item they go behind, the last first
}

// object is one Kubernetes object.
type object struct {
	doc   *document
	list  *yaml.Node // the items of the List it is in, or nil
	order int        // among all objects
	root  *yaml.Node
	path  string // of root within the document, such as items[0]

	apiVersion, kind, name, namespace string // as they were read

	converted bool // it is of another version now
	made      bool // it was added by the conversion
	refused   bool // it must not be touched
	patch     bool // it is part of an object that stands elsewhere, and refused
}

// String names an object the way people do: "Deployment shop/web".
func (o *object) String() string {
	name := o.name
	if name == "" {
		name = "(no name)"
	}
	if o.namespace != "" {
		name = o.namespace + "/" + name
	}
	return o.doc.words.show(o.kind + " " + name)
}

// text is the text of a scalar as it stands in the source. Only such texts can be
// compared between documents and moved from one to another, as each document has
// words of its own for its templating.
func (o *object) text(n *yaml.Node) string {
	return o.doc.words.show(textOf(n))
}

// moved returns a tree of this object for use in a document.
func (o *object) moved(n *yaml.Node, to *document) *yaml.Node {
	n = copyNode(n)
	if to != o.doc {
		each(n, func(n *yaml.Node) {
			n.Line, n.Column = 0, 0
			for _, text := range []*string{&n.Value, &n.HeadComment, &n.LineComment, &n.FootComment} {
				*text = to.words.adopt(o.doc.words, *text)
			}
		})
	}
	return n
}

// group is the API group of an object.
func (o *object) group() string {
	g, _, found := strings.Cut(o.apiVersion, "/")
	if !found {
		return ""
	}
	return g
}

// spec is spec of the object, or nil if it is no mapping.
func (o *object) spec() *yaml.Node {
	if spec := at(o.root, "spec"); isMap(spec) {
		return spec
	}
	return nil
}

// read cuts a source into documents and these into objects.
func (c *converter) read(s Source) {
	f := &file{source: s, index: len(c.files)}
	c.files = append(c.files, f)
	number := 0
	for _, p := range textstream.Parts(textstream.UTF8(s.Data)) {
		d := &document{Part: p, file: f}
		f.docs = append(f.docs, d)
		if textstream.Blank(p.Text) {
			continue
		}
		number++
		d.number = number
		if err := d.parse(); err != nil {
			severity := Info
			if mentionsOld(p.Text) || c.options.Check && mentionsKarpenter(p.Text) {
				severity = Error
			}
			line := d.contentLine()
			if template, ok := errors.AsType[*templateError](err); ok {
				line = d.Line + template.line - 1
			}
			c.add(f.index, len(c.objects), Note{Source: s.Name, Document: number, Line: line, Severity: severity,
				Message: fmt.Sprintf("left as it is: %v", err)})
			continue
		}
		c.take(&object{doc: d, root: d.top.Content[0]}, 0)
	}
}

// mentionsKarpenter tells whether a text that cannot be read may hold something to judge.
func mentionsKarpenter(text []byte) bool {
	return bytes.Contains(text, []byte("karpenter.sh/")) || bytes.Contains(text, []byte("karpenter.k8s.aws/"))
}

// mentionsOld tells whether a text that cannot be read may hold something to
// convert.
func mentionsOld(text []byte) bool {
	for _, word := range []string{coreAlpha, coreBeta, awsAlpha, awsBeta, oldPoolLabel, oldDoNotEvict, oldDoNotMerge} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// contentLine is the first line of the document that says anything.
func (d *document) contentLine() int {
	line := d.Line
	for text := range bytes.Lines(d.Text) {
		if !textstream.Blank(text) {
			break
		}
		line++
	}
	return line
}

// parse reads the text of a document.
func (d *document) parse() error {
	if line, message := textstream.Shaped(d.Text, thenConvert); line > 0 {
		return &templateError{line, message}
	}
	text, words := hide(d.Text)
	d.words = words
	d.json = json.Valid(bytes.TrimSpace(text))
	top, err := parseYAML(text)
	if err != nil {
		if fault := unfilled(text); fault != nil {
			return fault
		}
		return fmt.Errorf("it is no YAML: %s", words.show(parserFault(err)))
	}
	if len(top.Content) != 1 {
		return errors.New("it holds no value")
	}
	expanded, err := expand(top.Content[0])
	if err != nil {
		return err
	}
	if where := twice(expanded, ""); where != "" {
		return fmt.Errorf("%s stands twice, and only one of the two can be meant; remove the other", words.show(where))
	}
	top.Content[0] = expanded
	d.top = top
	d.remarks = d.comments()
	return nil
}

var faultLine = regexp.MustCompile(`^line \d+: `)

// parserFault is what the parser says, without the line, which it counts from
// where it gave up.
func parserFault(err error) string {
	return faultLine.ReplaceAllString(oneLine(strings.TrimPrefix(err.Error(), "yaml: ")), "")
}

// parseYAML reads one document. The parser reports its own faults as errors; that
// it has none that end in a panic is not ours to promise.
func parseYAML(text []byte) (top *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	top = &yaml.Node{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(top); err != nil {
		return nil, err
	}
	if top.Kind != yaml.DocumentNode {
		return nil, errors.New("it holds no value")
	}
	if err := dec.Decode(&yaml.Node{}); err == nil {
		return nil, errors.New("it holds more than one document")
	}
	return top, nil
}

// deepestList bounds the path to an object within Lists.
const deepestList = 16

// take keeps a value if it is an object, or the objects in it if it is a list.
// It completes o, whose type is set if the list it is in says it.
func (c *converter) take(o *object, depth int) {
	if depth > deepestList {
		c.remark(o, Error, "", o.root, "left as it is: Lists are nested deeper than %d levels; unfold them", deepestList)
		return
	}
	if isList(o.root) {
		c.takeItems(o, o.root, object{}, o.path, depth)
		return
	}
	if !isMap(o.root) {
		c.remark(o, Info, "", o.root, "left as it is: it is no object with apiVersion and kind")
		return
	}
	if v, k := textOf(at(o.root, "apiVersion")), textOf(at(o.root, "kind")); v != "" || k != "" {
		o.apiVersion, o.kind = v, k
	}
	o.name, o.namespace = o.text(at(o.root, "metadata", "name")), o.text(at(o.root, "metadata", "namespace"))
	if contents := at(o.root, "items"); isList(contents) && strings.HasSuffix(o.kind, "List") {
		c.takeList(o, contents, depth)
		return
	}
	if o.apiVersion == "" && ours(o.kind) {
		c.remark(o, Error, "", o.root, "left as it is: it has no apiVersion; write the one that this %s was written for, such as %s", o.kind, versionOf(o.kind))
		return
	}
	if o.apiVersion == "" || o.kind == "" {
		c.remark(o, Info, "", o.root, "left as it is: without apiVersion and kind it is not known what it is")
		return
	}
	o.order = len(c.objects)
	c.objects = append(c.objects, o)
}

// takeList keeps the items of a list. The API server does not repeat kind and
// version in the items of a typed list such as ProvisionerList. That can hold
// nothing but items of one version and kind, so it is made a plain List.
func (c *converter) takeList(o *object, contents *yaml.Node, depth int) {
	like := object{kind: strings.TrimSuffix(o.kind, "List")}
	if like.kind != "" {
		like.apiVersion = o.apiVersion
	}
	if _, ours := successor(o.apiVersion, like.kind); ours {
		for _, item := range contents.Content {
			if isMap(item) && find(item, "kind").key == nil && find(item, "apiVersion").key == nil {
				item.Content = append([]*yaml.Node{
					newText("apiVersion"), newText(like.apiVersion), newText("kind"), newText(like.kind),
				}, item.Content...)
			}
		}
		o.doc.changed = true
		c.remark(o, Info, "kind", at(o.root, "kind"), "is a List of apiVersion v1 now, which can hold objects of any kind")
		find(o.root, "apiVersion").value.Value = "v1"
		find(o.root, "kind").value.Value = "List"
	}
	c.takeItems(o, contents, like, join(o.path, "items"), depth)
}

func (c *converter) takeItems(o *object, list *yaml.Node, like object, path string, depth int) {
	for i, item := range list.Content {
		c.take(&object{doc: o.doc, list: list, root: item, path: index(path, i),
			apiVersion: like.apiVersion, kind: like.kind}, depth+1)
	}
}

// addAfter adds a new object behind another: in the same List, or as a document
// of its own.
func (c *converter) addAfter(o *object, root *yaml.Node, name string) *object {
	added := &object{doc: o.doc, list: o.list, order: o.order, root: root, path: o.path, name: name,
		apiVersion: textOf(at(root, "apiVersion")), kind: textOf(at(root, "kind")), converted: true, made: true}
	o.doc.changed = true
	if o.list == nil {
		o.doc.extras = append(o.doc.extras, root)
		return added
	}
	if o.doc.added == nil {
		o.doc.lists, o.doc.added = map[*yaml.Node]bool{}, map[*yaml.Node][]*yaml.Node{}
	}
	o.doc.lists[o.list] = true
	o.doc.added[o.root] = append(o.doc.added[o.root], root)
	return added
}

// settle adds to Lists what addAfter has for them, all at once, as their items move.
func (d *document) settle() {
	var out []*yaml.Node
	var place func(item *yaml.Node)
	place = func(item *yaml.Node) {
		out = append(out, item)
		behind := d.added[item]
		delete(d.added, item)
		for _, next := range slices.Backward(behind) {
			place(next)
		}
	}
	for list := range d.lists { // in any order: none is within another's items that are added
		out = make([]*yaml.Node, 0, len(list.Content))
		for _, item := range list.Content {
			place(item)
		}
		list.Content = out
	}
}

// oneLine joins the lines of a message.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
