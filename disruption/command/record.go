package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// AnnotationKey is the annotation that holds the record of a command on
// every object that takes part in it: the NodeClaims and Nodes it removes and
// the NodeClaims it launches. The Nodes of these have no part.
const AnnotationKey = v1.DisruptionCommandAnnotationKey

// HoldFinalizer keeps the NodeClaim of a terminate-first command, and
// with it the record of the command, after the machine is gone and until the
// replacements exist.
const HoldFinalizer = "dovetail-sdk.github.io/disruption-command"

// Record is the annotation of an object that takes part in a command. It has the whole command, so
// that one remaining object is enough to continue. Only the records of the NodeClaims to remove say
// whether the command is being undone.
type Record struct {
	// Command is the whole command.
	Command Command
	// Failure is why the command is being undone, empty if it is not.
	Failure Failure
}

// recordJSON is the text form of a record.
type recordJSON struct {
	ID           string              `json:"id"`
	Reason       v1.DisruptionReason `json:"reason"`
	Mode         Mode                `json:"mode"`
	Created      string              `json:"created"`
	Deadline     string              `json:"deadline"`
	Sources      []sourceJSON        `json:"sources"`
	Replacements []replacementJSON   `json:"replacements,omitempty"`
	Claims       string              `json:"claims,omitempty"` // packed: see keepClaims
	Failure      Failure             `json:"failure,omitempty"`
}

type sourceJSON struct {
	NodeClaim string    `json:"nodeClaim"`
	ClaimUID  types.UID `json:"claimUID,omitempty"`
	Node      string    `json:"node,omitempty"`
	NodeUID   types.UID `json:"nodeUID,omitempty"`
	Drain     *string   `json:"drain,omitempty"`
	DrainBy   string    `json:"drainBy,omitempty"`
	Bounded   bool      `json:"bounded,omitempty"`
	Pods      int       `json:"pods,omitempty"`
}

type replacementJSON struct {
	Token    string `json:"token"`
	NodePool string `json:"nodePool"`
}

// String returns the text of the record, one line of JSON. ParseRecord reads it.
func (r Record) String() string {
	c := &r.Command
	j := recordJSON{ID: c.ID, Reason: c.Reason, Mode: c.Mode, Claims: c.claims, Failure: r.Failure,
		Created: c.CreatedAt.Format(time.RFC3339), Deadline: c.Deadline.Format(time.RFC3339)}
	for _, s := range c.Sources {
		out := sourceJSON{NodeClaim: s.NodeClaim, ClaimUID: s.ClaimUID, Node: s.Node, NodeUID: s.NodeUID, Bounded: s.Bounded, Pods: s.Pods}
		if !s.DrainBy.IsZero() {
			out.DrainBy = s.DrainBy.Format(time.RFC3339)
		}
		if s.Drain != nil {
			out.Drain = new(s.Drain.String())
		}
		j.Sources = append(j.Sources, out)
	}
	for _, p := range c.Replacements {
		j.Replacements = append(j.Replacements, replacementJSON(p))
	}
	text, _ := json.Marshal(j) // strings and booleans always have a text
	return string(text)
}

// ParseRecord reads the text of a record. It refuses an unknown field, because a newer version that
// wrote the field may depend on it, and every command that New would refuse. The error joins all
// faults.
func ParseRecord(text string) (Record, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	var j recordJSON
	switch err := d.Decode(&j); {
	case errors.Is(err, io.EOF):
		return Record{}, errors.New("record of a command: the text is empty")
	case err != nil:
		return Record{}, fmt.Errorf("record of a command: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Record{}, errors.New("record of a command: something follows it")
	}
	r, errs := j.record()
	if len(errs) == 0 {
		errs = append(errs, r.check()...)
	}
	if err := errors.Join(errs...); err != nil {
		return Record{}, fmt.Errorf("record of a command: %w", err)
	}
	return r, nil
}

// record returns the record, and an error for each value that cannot be read.
func (j *recordJSON) record() (r Record, errs []error) {
	c := Command{ID: j.ID, Reason: j.Reason, Mode: j.Mode, claims: j.Claims}
	instant := func(name, text string) time.Time {
		t, err := time.Parse(time.RFC3339, text)
		t = t.UTC().Truncate(time.Second)
		// Far away, the offset can lead to a year that has no such text.
		if year := t.Year(); err != nil || year < 0 || year > 9999 {
			errs = append(errs, fmt.Errorf("%s: %q is not a time such as 2026-01-02T15:04:05Z", name, text))
		}
		return t
	}
	c.CreatedAt, c.Deadline = instant("created", j.Created), instant("deadline", j.Deadline)
	for i, s := range j.Sources {
		out := Source{NodeClaim: s.NodeClaim, ClaimUID: s.ClaimUID, Node: s.Node, NodeUID: s.NodeUID, Bounded: s.Bounded, Pods: s.Pods}
		if s.Drain != nil {
			d, err := time.ParseDuration(*s.Drain)
			if err != nil {
				errs = append(errs, fmt.Errorf("sources[%d].drain: %q is not a duration such as 10m", i, *s.Drain))
			}
			out.Drain = &d
		}
		if s.DrainBy != "" {
			out.DrainBy = instant(fmt.Sprintf("sources[%d].drainBy", i), s.DrainBy)
		}
		c.Sources = append(c.Sources, out)
	}
	for _, p := range j.Replacements {
		c.Replacements = append(c.Replacements, Replacement(p))
	}
	return Record{Command: c, Failure: j.Failure}, errs
}

// check finds faults that New would refuse. It does not compare the ID, because another version may
// compute it differently.
func (r *Record) check() (errs []error) {
	c := &r.Command
	spec := Spec{Reason: c.Reason, Mode: c.Mode, Sources: c.Sources}
	tokens := map[string]bool{}
	for i, p := range c.Replacements {
		spec.NodePools = append(spec.NodePools, p.NodePool)
		if p.Token == "" || tokens[p.Token] {
			errs = append(errs, fmt.Errorf("replacements[%d].token: %q is empty or there twice", i, p.Token))
		}
		tokens[p.Token] = true
	}
	for i, s := range c.Sources {
		if tokens[s.NodeClaim] {
			errs = append(errs, fmt.Errorf("sources[%d].nodeClaim: %q is a replacement too", i, s.NodeClaim))
		}
		if i > 0 && s.NodeClaim < c.Sources[i-1].NodeClaim {
			errs = append(errs, fmt.Errorf("sources[%d].nodeClaim: %q is out of order", i, s.NodeClaim))
		}
	}
	if c.ID == "" {
		errs = append(errs, errors.New("id: missing"))
	}
	if c.Mode == "" {
		errs = append(errs, errors.New("mode: missing"))
	}
	if c.Deadline.Before(c.CreatedAt) {
		errs = append(errs, fmt.Errorf("deadline: %s is before created", c.Deadline.Format(time.RFC3339)))
	}
	var err error
	if spec.Claims, err = unpackClaims(c.claims); err != nil {
		errs = append(errs, fmt.Errorf("claims: %w", err))
	}
	if err := spec.validate(); err != nil {
		errs = append(errs, err)
	}
	return errs
}
