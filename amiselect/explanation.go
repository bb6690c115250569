package amiselect

import (
	"fmt"
	"strings"
	"time"
)

// Code says in one word why an image is not selected.
type Code string

// The codes.
const (
	// CodeSuperseded: a term matches the image, but a newer one is selected.
	CodeSuperseded Code = "Superseded"
	// CodeDeprecated: a term matches the image, but it is deprecated and another one is selected.
	CodeDeprecated Code = "Deprecated"
	// CodeDenied: Options.Deny covers the image.
	CodeDenied Code = "Denied"
	// CodeTooYoung: the image is younger than Options.MinAge, or was created after now.
	CodeTooYoung Code = "TooYoung"
	// CodeUnavailable: the state of the image is not available.
	CodeUnavailable Code = "Unavailable"
	// CodeArchitecture: the architecture is neither x86_64 nor arm64.
	CodeArchitecture Code = "Architecture"
	// CodeFamily: the image is of another family than the alias.
	CodeFamily Code = "Family"
	// CodeKubernetesVersion: the image is for another Kubernetes version than
	// that of the control plane, which an alias follows.
	CodeKubernetesVersion Code = "KubernetesVersion"
	// CodeRelease: the image is of another release than the one that the alias names, or of a later
	// one than the one that it selects.
	CodeRelease Code = "Release"
	// CodeNotSelected: no term selects the image.
	CodeNotSelected Code = "NotSelected"
	// CodeGone: Select was not given the image. The owner has removed the image or no longer shares
	// it, or Queries no longer asks for it.
	CodeGone Code = "Gone"
	// CodeOtherMachine: the image is selected, but not for the instance type.
	CodeOtherMachine Code = "OtherMachine"
	// CodeNoImageForType: no selected image boots the instance type.
	CodeNoImageForType Code = "NoImageForType"
	// CodeNotJudged: the images cannot be compared, because the Selection is empty or the image of
	// the node is not known. The node has not drifted.
	CodeNotJudged Code = "NotJudged"
)

// Explanation says why an image is not selected.
type Explanation struct {
	// Code is the cause.
	Code Code
	// ImageID and ImageName are the image; the name may be unknown.
	ImageID, ImageName string
	// Term is the index of the term that the cause concerns, or negative.
	Term int
	// ReplacementID and ReplacementName are the image that is selected instead; empty if there is
	// none, or if it depends on the instance type.
	ReplacementID, ReplacementName string
	// Detail completes the sentence that begins with the image, such as "is of
	// release v20240703".
	Detail string
}

// String renders the reason as one line of English, without a full stop.
func (r Explanation) String() string {
	var b strings.Builder
	switch {
	case r.ImageID == "":
		b.WriteString("the image")
	case r.ImageName == "":
		b.WriteString(r.ImageID)
	default:
		b.WriteString(r.ImageID + " (" + r.ImageName + ")")
	}
	b.WriteString(" " + r.Detail)
	if r.ReplacementID != "" {
		b.WriteString("; " + r.ReplacementID)
		if r.ReplacementName != "" {
			b.WriteString(" (" + r.ReplacementName + ")")
		}
		b.WriteString(" takes its place")
	}
	return b.String()
}

// reason returns the reason for a code that needs only the image.
func (s *selection) reason(code Code, i *Image, term int) Explanation {
	r := Explanation{Code: code, ImageID: i.ID, ImageName: i.Name, Term: term}
	switch code {
	case CodeUnavailable:
		r.Detail = fmt.Sprintf("is in state %s, not available", shorten(i.State))
	case CodeArchitecture:
		r.Detail = "has no architecture in its description"
		if i.Architecture != "" {
			r.Detail = fmt.Sprintf("has architecture %s, nodes boot x86_64 or arm64", shorten(i.Architecture))
		}
	case CodeDenied:
		r.Detail = fmt.Sprintf("is on the deny-list, by %s", shorten(s.denied(i)))
	case CodeTooYoung:
		if i.Created.After(s.now) {
			r.Detail = fmt.Sprintf("was created at %s UTC, which is later than the time to decide for", i.Created.UTC().Format(time.DateTime))
			break
		}
		ready := i.Created.Add(s.minAge).UTC()
		r.Detail = fmt.Sprintf("is %s old and must be %s, which it is from %s on",
			age(s.now.Sub(i.Created)), age(s.minAge), ready.Format(time.DateTime)+" UTC")
	}
	return r
}

// age renders a duration in a suitable unit.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		if hours := d % day / time.Hour; hours > 0 {
			return fmt.Sprintf("%dd%dh", d/day, hours)
		}
		return fmt.Sprintf("%dd", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return d.Truncate(time.Second).String()
}
