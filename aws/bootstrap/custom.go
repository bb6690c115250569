package bootstrap

import (
	"errors"
	"fmt"
	"mime"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// cloudInitTypes returns the types of parts that cloud-init processes.
func cloudInitTypes() []string {
	return []string{"text/cloud-boothook", "text/cloud-config", "text/cloud-config-archive",
		"text/cloud-config-jsonp", "text/jinja2", typePartHandler, "text/upstart-job", "text/x-include-once-url",
		"text/x-include-url", typeShell, "text/x-shellscript-per-boot", "text/x-shellscript-per-instance",
		"text/x-shellscript-per-once"}
}

// typePartHandler is the type of a program that handles parts of types that it declares.
const typePartHandler = "text/part-handler"

// sniffedTypes returns the types of parts whose text cloud-init inspects.
func sniffedTypes() []string {
	return []string{"", "text/plain", "text/x-not-multipart", "application/octet-stream", "application/gzip",
		"application/gzip-compressed", "application/gzipped", "application/x-compress", "application/x-compressed",
		"application/x-gunzip", "application/x-gzip", "application/x-gzip-compressed"}
}

// firstLines returns the beginnings by which cloud-init recognises a text, with its type. A longer
// beginning comes before its own prefixes.
func firstLines() [][2]string {
	return [][2]string{
		{"#!", typeShell},
		{"#cloud-config-archive", "text/cloud-config-archive"},
		{"#cloud-config-jsonp", "text/cloud-config-jsonp"},
		{"#cloud-config", "text/cloud-config"},
		{"#cloud-boothook", "text/cloud-boothook"},
		{"#include-once", "text/x-include-once-url"},
		{"#include", "text/x-include-url"},
		{"#part-handler", typePartHandler},
		{"## template: jinja", "text/jinja2"},
	}
}

// maxCustom is the largest size of custom user data, in bytes. Longer texts would not fit even when
// compressed.
const maxCustom = 1 << 20

// custom is the parsed custom user data; one field is set, by family.
type custom struct {
	parts    []mimePart     // AL2, AL2023
	settings map[string]any // Bottlerocket
	commands string         // Windows
}

// parseCustom reads the custom user data. FamilyCustom does not need it.
func (n *Node) parseCustom() (c custom, err error) {
	if len(n.CustomUserData) > maxCustom && n.Family != amiselect.FamilyCustom {
		return c, fmt.Errorf("has %d bytes: EC2 takes %d, shorten it or let it fetch the rest when it runs", len(n.CustomUserData), MaxBytes)
	}
	switch n.Family {
	case amiselect.FamilyAL2, amiselect.FamilyAL2023:
		c.parts, err = n.customParts()
	case amiselect.FamilyBottlerocket:
		c.settings, err = parseSettings(n.CustomUserData)
	case amiselect.FamilyCustom:
	default:
		c.commands, err = parsePowerShell(n.CustomUserData)
	}
	return c, err
}

// customParts reads the custom user data of a family that boots from an archive.
func (n *Node) customParts() ([]mimePart, error) {
	// Scripts with carriage returns do not run.
	text := strings.ReplaceAll(n.CustomUserData, "\r", "")
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if looksLikeMIME(text) {
		parts, err := parseMIME(text)
		if err != nil {
			return nil, fmt.Errorf("is no MIME archive: %w", err)
		}
		return parts, n.checkParts(parts)
	}
	part := mimePart{body: strings.TrimSuffix(text, "\n") + "\n"}
	kind := n.classify(text)
	switch {
	case kind == typeNodeConfig:
		part.header = []string{"Content-Type: " + typeNodeConfig}
	case ascii(text):
		part.header = []string{"Content-Type: " + kind + `; charset="us-ascii"`}
	default:
		part.header = []string{"Content-Type: " + kind + `; charset="utf-8"`}
	}
	parts := []mimePart{part}
	return parts, n.checkParts(parts)
}

func ascii(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
}

// classify returns the type of a text without a Content-Type: the one of its first line, else
// NodeConfig if it is a YAML map, else shell script. On AL2 a map counts as NodeConfig only with
// its apiVersion and kind, so that checkParts can refuse it.
func (n *Node) classify(text string) string {
	start := strings.TrimLeft(text, " \t\n")
	for _, f := range firstLines() {
		if strings.HasPrefix(start, f[0]) {
			return f[1]
		}
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil || len(object) == 0 {
		return typeShell
	}
	if n.Family == amiselect.FamilyAL2023 || nodeConfigFault(object) == "" {
		return typeNodeConfig
	}
	return typeShell
}

// checkParts refuses parts that no program on the node processes.
func (n *Node) checkParts(parts []mimePart) error {
	kinds := make([]string, len(parts))
	for i, part := range parts {
		value, err := contentType(part.header)
		if err != nil {
			return fmt.Errorf("part %d: %w", i+1, err)
		}
		if value == "" {
			continue
		}
		if kinds[i], _, err = mime.ParseMediaType(value); err != nil {
			return fmt.Errorf("part %d: its Content-Type cannot be read: write it as %s", i+1, typeShell)
		}
	}
	if slices.Contains(kinds, typePartHandler) {
		return nil // a part handler may accept any type
	}
	var faults []error
	for i, kind := range kinds {
		switch {
		case slices.Contains(cloudInitTypes(), kind), slices.Contains(sniffedTypes(), kind), strings.HasPrefix(kind, "multipart/"):
		case kind == typeNodeConfig && n.Family == amiselect.FamilyAL2023:
			if _, err := parts[i].nodeConfig(); err != nil {
				faults = append(faults, fmt.Errorf("part %d: %w", i+1, err))
			}
		case kind == typeNodeConfig:
			faults = append(faults, fmt.Errorf("part %d is a NodeConfig, which %s nodes do not read: set spec.kubelet instead, or choose AL2023", i+1, n.Family))
		default:
			faults = append(faults, fmt.Errorf("part %d: nothing acts on its Content-Type: write %s or another of %s", i+1, typeShell, strings.Join(cloudInitTypes(), ", ")))
		}
	}
	return errors.Join(faults...)
}

// nodeConfig reads a part as a NodeConfig. It is nil for other parts, and for encoded parts, which
// only nodeadm reads.
func (p mimePart) nodeConfig() (map[string]any, error) {
	value, err := contentType(p.header)
	if err != nil {
		return nil, err
	}
	if kind, _, err := mime.ParseMediaType(value); err != nil || kind != typeNodeConfig || p.encoded() {
		return nil, nil
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(p.body), &object); err != nil {
		return nil, yamlFault(err)
	}
	if fault := nodeConfigFault(object); fault != "" {
		return nil, errors.New(fault)
	}
	return object, nil
}

// yamlFault returns an error with the line of a YAML fault. The rest of the parser's message is
// dropped because it quotes the text.
func yamlFault(err error) error {
	said := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	var line int
	if _, err := fmt.Sscanf(said, "yaml: line %d:", &line); err != nil {
		return errors.New("is no map in YAML: correct it, or begin a script with #!/bin/bash")
	}
	return fmt.Errorf("line %d of its text: is no YAML: correct it, or begin a script with #!/bin/bash", line)
}

// wordForm is that of a word of base64.
var wordForm = regexp.MustCompile(`^[0-9A-Za-z+/=]+$`)

// encoded reports whether a header names an encoding, or the body is a single word, as base64 is.
func (p mimePart) encoded() bool {
	for _, line := range p.header {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if strings.EqualFold(name, "Content-Transfer-Encoding") &&
			(strings.EqualFold(value, "base64") || strings.EqualFold(value, "quoted-printable")) {
			return true
		}
	}
	body := strings.ReplaceAll(strings.TrimSpace(p.body), "\n", "")
	return wordForm.MatchString(body)
}

// nodeConfigFault says why an object is no NodeConfig.
func nodeConfigFault(object map[string]any) string {
	version, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if !strings.HasPrefix(version, "node.eks.aws/") || kind != "NodeConfig" {
		return "is YAML without the apiVersion and kind of a NodeConfig: only one of node.eks.aws/v1alpha1 is read here; begin a script with #!/bin/bash and cloud-config with #cloud-config"
	}
	return ""
}

// mimeData joins the parts of the user and the generated one.
func mimeData(custom []mimePart, name string, own mimePart) UserData {
	u := UserData{Text: writeMIME(append(slices.Clip(custom), own))}
	rest := len(u.Text)
	if size := partsSize(custom); size > 0 {
		u.Parts = append(u.Parts, Part{partCustom, size})
		rest -= size
	}
	u.Parts = append(u.Parts, Part{name, len(own.body)}, Part{partFraming, rest - len(own.body)})
	return u
}

// partsSize returns the size of parts without the lines between them.
func partsSize(parts []mimePart) (size int) {
	for _, part := range parts {
		for _, line := range part.header {
			size += len(line) + 1
		}
		size += len(part.body)
	}
	return size
}
