package instancetype

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sigsjson "sigs.k8s.io/json"
)

// learnedVersion is the version of the text form.
const learnedVersion = 1

// learnedFile is the text form of Learned.
type learnedFile struct {
	Version int            `json:"version"`
	Nodes   []learnedNodes `json:"nodes"`
}

type learnedNodes struct {
	InstanceType string    `json:"instanceType"`
	Image        string    `json:"image"`
	MemoryBytes  int64     `json:"memoryBytes"`
	At           time.Time `json:"at"`
}

// MarshalJSON returns l as JSON, in the order of All, with instants in UTC to the
// second:
//
//	{"version":1,"nodes":[{"instanceType":"m5.large","image":"ami-1","memoryBytes":7756939264,"at":"2026-01-02T15:04:05Z"}]}
func (l Learned) MarshalJSON() ([]byte, error) {
	file := learnedFile{Version: learnedVersion, Nodes: []learnedNodes{}}
	for _, o := range l.All() {
		file.Nodes = append(file.Nodes, learnedNodes{o.InstanceType, o.Image, o.Memory, o.At.UTC().Truncate(time.Second)})
	}
	return json.Marshal(file)
}

// ParseLearned reads what MarshalJSON wrote. It is strict: a field that is
// unknown, misspelt or there twice, another version, an entry without instance
// type, image or instant, one that is there twice, and memory of zero or less are
// faults. The error lists them all, and then nothing is returned.
func ParseLearned(data []byte) (Learned, error) {
	var file learnedFile
	faults, err := sigsjson.UnmarshalStrict(data, &file)
	if err != nil {
		return Learned{}, fmt.Errorf("learned memory: %w", err)
	}
	if file.Version != learnedVersion {
		faults = append(faults, fmt.Errorf("version: %d; use %d", file.Version, learnedVersion))
	}
	by := make(map[Nodes]Observation, len(file.Nodes))
	for i, n := range file.Nodes {
		o := Observation{Nodes: Nodes{n.InstanceType, n.Image}, Memory: n.MemoryBytes, At: n.At.UTC().Truncate(time.Second)}
		_, twice := by[o.Nodes]
		for _, f := range []struct {
			bad  bool
			text string
		}{
			{strings.TrimSpace(n.InstanceType) == "", "instanceType: empty; name the instance type"},
			{strings.TrimSpace(n.Image) == "", "image: empty; give the id of the image"},
			{n.MemoryBytes <= 0, "memoryBytes: not above zero; give the memory in bytes"},
			{n.At.IsZero(), "at: missing; say when it was seen, as 2026-01-02T15:04:05Z"},
			{o.At.Year() < 1 || o.At.Year() > 9999, "at: not in the years 1 to 9999 of UTC, in which alone it can be written"},
			{twice, "there twice; keep the smaller one"},
		} {
			if f.bad {
				faults = append(faults, fmt.Errorf("nodes[%d] (%s, %s): %s", i, n.InstanceType, n.Image, f.text))
			}
		}
		by[o.Nodes] = o
	}
	if len(faults) > 0 {
		return Learned{}, fmt.Errorf("learned memory: %w", errors.Join(faults...))
	}
	return Learned{by: by}, nil
}
