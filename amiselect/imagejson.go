package amiselect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// ParseTime reads a time as DescribeImages writes it, such as
// 2024-08-07T18:11:01.000Z, and returns it in UTC. The error, for any other text, says
// what is wanted.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.IsZero() {
		return time.Time{}, fmt.Errorf("time %q: want year to second and a zone, such as 2024-08-07T18:11:01.000Z", shorten(text))
	}
	return t.UTC(), nil
}

// imageJSON is an entry of the answer of DescribeImages.
type imageJSON struct {
	ID              string `json:"ImageId"`
	Name            string
	OwnerID         string `json:"OwnerId"`
	OwnerAlias      string `json:"ImageOwnerAlias"`
	Architecture    string
	CreationDate    string
	DeprecationTime string
	State           string
	Tags            []struct{ Key, Value string }
}

// ReadImages reads what "aws ec2 describe-images" prints: a JSON object with the
// list Images. Fields that this package has no use for are ignored. The images
// come in the order of the text, and are the caller's.
//
// The error joins all faults, each with its path: an image without id, one
// without time of creation or with one that cannot be read, a tag listed twice.
func ReadImages(data []byte) ([]Image, error) {
	var answer struct{ Images *[]imageJSON }
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&answer); err != nil {
		return nil, fmt.Errorf("images: not the answer of describe-images: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("images: there is text behind the JSON object; remove it")
	}
	if answer.Images == nil {
		return nil, errors.New("images: the object has no list Images; give what aws ec2 describe-images --output json prints")
	}
	var errs []error
	out := make([]Image, 0, len(*answer.Images))
	for n := range *answer.Images {
		image, err := (*answer.Images)[n].image(fmt.Sprintf("Images[%d]", n))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, image)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

func (j *imageJSON) image(path string) (Image, error) {
	i := Image{ID: j.ID, Name: j.Name, OwnerID: j.OwnerID, OwnerAlias: j.OwnerAlias,
		Architecture: j.Architecture, State: j.State}
	var errs []error
	if j.ID == "" {
		errs = append(errs, fmt.Errorf("%s.ImageId: is missing", path))
	}
	var err error
	if i.Created, err = ParseTime(j.CreationDate); err != nil {
		errs = append(errs, fmt.Errorf("%s.CreationDate: %w", path, err))
	}
	if j.DeprecationTime != "" {
		if i.DeprecationTime, err = ParseTime(j.DeprecationTime); err != nil {
			errs = append(errs, fmt.Errorf("%s.DeprecationTime: %w", path, err))
		}
	}
	if len(j.Tags) > 0 {
		i.Tags = make(map[string]string, len(j.Tags))
	}
	for n, tag := range j.Tags {
		if _, twice := i.Tags[tag.Key]; twice {
			errs = append(errs, fmt.Errorf("%s.Tags[%d].Key: %q is listed twice", path, n, shorten(tag.Key)))
		}
		i.Tags[tag.Key] = tag.Value
	}
	return i, errors.Join(errs...)
}
