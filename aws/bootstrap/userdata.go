package bootstrap

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

const (
	// MaxBytes is EC2's limit on the size of user data, before base64.
	MaxBytes = 16384
	// WarnBytes is nine tenths of MaxBytes. NearLimit reports sizes from here on.
	WarnBytes = 14745
)

// UserData is the user data of an instance.
type UserData struct {
	// Text is the user data. It is empty only for FamilyCustom.
	Text string
	// Parts say what Text consists of. Their sizes add up to that of Text.
	Parts []Part
	// Warnings name settings of the Node without effect, or with an unexpected one, each in a
	// sentence. The node joins all the same.
	Warnings []string

	packed []byte // Text, compressed, if it had to be
}

// Part is the size of one part of user data.
type Part struct {
	// Name says what it is, such as "custom user data".
	Name string
	// Bytes is its size.
	Bytes int
}

// Bytes returns the bytes for EC2: Text, or Text packed with gzip, see Node.Compress. The caller
// owns the slice.
func (u UserData) Bytes() []byte {
	if u.packed != nil {
		return bytes.Clone(u.packed)
	}
	return []byte(u.Text)
}

// Base64 returns Bytes as the field UserData of the EC2 API takes them.
func (u UserData) Base64() string { return base64.StdEncoding.EncodeToString(u.Bytes()) }

// Compressed reports whether Bytes are packed with gzip.
func (u UserData) Compressed() bool { return u.packed != nil }

// NearLimit reports whether Bytes are WarnBytes or more.
func (u UserData) NearLimit() bool { return len(u.Bytes()) >= WarnBytes }

// SizeError says that user data is larger than EC2 takes.
type SizeError struct {
	// Bytes is the size of the user data, compressed if Node.Compress is set.
	Bytes int
	// Parts are those of the text before it was packed.
	Parts []Part
	// Remedy says what to do, in a clause.
	Remedy string
}

// Error gives the sizes and the remedy.
func (e *SizeError) Error() string {
	var parts []string
	for _, p := range e.Parts {
		parts = append(parts, fmt.Sprintf("%s %d", p.Name, p.Bytes))
	}
	return fmt.Sprintf("customUserData: user data has %d bytes, %d more than the %d that EC2 takes (%s): %s",
		e.Bytes, e.Bytes-MaxBytes, MaxBytes, strings.Join(parts, ", "), e.Remedy)
}

// Render makes the user data of a node:
//
//  1. It checks the fields of the Node. All faults are joined, each with the path of its field.
//     Errors do not quote the custom user data, because it may hold a secret.
//  2. It makes the text of the family and adds the custom user data, as the package comment says.
//  3. It packs the text if it has more than MaxBytes and Node.Compress is set.
//  4. It returns a *SizeError if the result still has more than MaxBytes.
func Render(n Node) (UserData, error) {
	w, faults := n.validate()
	if !slices.Contains(amiselect.Families(), n.Family) {
		return UserData{}, faults.ToAggregate()
	}
	c, err := n.parseCustom()
	if err != nil {
		faults = append(faults, customFault(err))
	}
	if len(faults) > 0 {
		return UserData{}, faults.ToAggregate()
	}
	u, err := n.text(w, c)
	if err != nil {
		return UserData{}, customFault(err)
	}
	if n.Compress && compressible(n.Family) && len(u.Text) > MaxBytes {
		u.packed = pack(u.Text)
	}
	if size := len(u.Bytes()); size > MaxBytes {
		return UserData{}, &SizeError{Bytes: size, Parts: u.Parts, Remedy: n.remedy()}
	}
	return u, nil
}

// text makes the text of the family, with the user's text in it.
func (n *Node) text(w network, c custom) (UserData, error) {
	switch n.Family {
	case amiselect.FamilyAL2:
		return n.al2(w, c.parts), nil
	case amiselect.FamilyAL2023:
		return n.al2023(w, c.parts)
	case amiselect.FamilyBottlerocket:
		return n.bottlerocket(w, c.settings)
	case amiselect.FamilyCustom:
		u := UserData{Text: n.CustomUserData}
		if u.Text != "" {
			u.Parts = []Part{{partCustom, len(u.Text)}}
		}
		return u, nil
	}
	return n.windows(w, c.commands), nil
}

// Names of parts.
const (
	partCustom  = "custom user data"
	partFraming = "framing"
)

// customFault puts the path before an error in the custom user data. Errors give part, line or the
// name of a setting and do not quote the text, because it may hold a secret and errors go to
// conditions, events and logs.
func customFault(err error) *field.Error {
	return field.Invalid(field.NewPath("customUserData"), field.OmitValueType{}, err.Error())
}

func (n *Node) remedy() string {
	switch {
	case n.Compress || !compressible(n.Family):
		return "shorten the custom user data, or let it fetch the rest when it runs"
	default:
		return "shorten the custom user data, let it fetch the rest when it runs, or set Compress"
	}
}

// pack compresses a text. The header has neither time nor system, so that the same text gives the
// same bytes.
func pack(text string) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		// Writing to a buffer never fails.
		_, _ = z.Write([]byte(text))
		_ = z.Close()
	}
	return b.Bytes()
}

// compressible reports whether the reader of the family's user data unpacks gzip: cloud-init,
// nodeadm and Bottlerocket do, EC2Launch does not.
func compressible(f amiselect.Family) bool {
	return f == amiselect.FamilyAL2 || f == amiselect.FamilyAL2023 || f == amiselect.FamilyBottlerocket
}

// IPFamily is the kind of address that pods and services of a cluster have.
type IPFamily string

// The kinds of address.
const (
	// IPv4 clusters give pods addresses such as 10.0.0.7.
	IPv4 IPFamily = "ipv4"
	// IPv6 clusters give pods addresses such as fd00::7.
	IPv6 IPFamily = "ipv6"
)
