package amiselect_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

func TestReadImages(t *testing.T) {
	images, err := amiselect.ReadImages([]byte(`{"Images": [
		{"ImageId": "ami-1", "Name": "n", "OwnerId": "602401143452", "ImageOwnerAlias": "amazon", "Architecture": "x86_64",
		 "CreationDate": "2024-08-07T18:11:01.000Z", "DeprecationTime": "2026-08-07T18:11:01.000Z", "State": "available",
		 "Tags": [{"Key": "env", "Value": "prod"}], "BlockDeviceMappings": [{}], "Public": true},
		{"ImageId": "ami-2", "CreationDate": "2024-08-07T18:11:01+02:00"}
	], "NextToken": "x"}`))
	require.NoError(t, err)
	at := time.Date(2024, 8, 7, 18, 11, 1, 0, time.UTC)
	require.Equal(t, []amiselect.Image{
		{ID: "ami-1", Name: "n", OwnerID: "602401143452", OwnerAlias: "amazon", Architecture: "x86_64", Created: at,
			DeprecationTime: at.AddDate(2, 0, 0), State: "available", Tags: map[string]string{"env": "prod"}},
		{ID: "ami-2", Created: at.Add(-2 * time.Hour)},
	}, images)
	images, err = amiselect.ReadImages([]byte(`{"Images": []}`))
	require.NoError(t, err)
	require.Empty(t, images)
}

func TestReadImagesFaults(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                       {"images: there is no text; give what"},
		"[]":                                     {"images: not the answer of describe-images"},
		"{}":                                     {"has no list Images"},
		`{"Images": null}`:                       {"has no list Images"},
		`{"Images": []} x`:                       {"text behind the JSON object"},
		`{"Images": [{}, {"ImageId": "ami-1"}]}`: {"Images[0].ImageId: is missing", `Images[0].CreationDate: time ""`, `Images[1].CreationDate: time ""`},
		`{"Images": [{"ImageId": "a", "CreationDate": "yesterday", "DeprecationTime": "never"}]}`:                                          {`Images[0].CreationDate: time "yesterday": want year to second and a zone, such as 2024-08-07T18:11:01.000Z`, `Images[0].DeprecationTime: time "never"`},
		`{"Images": [{"ImageId": "a", "CreationDate": "2024-08-07T18:11:01.000Z", "Tags": [{"Key":"k"},{"Key":"k"}]}]}`:                    {`Images[0].Tags[1].Key: "k" is listed twice`},
		`{"Images": [{"ImageId": "a", "CreationDate": "0001-01-01T00:00:00Z"}, {"ImageId": "b", "CreationDate": "2024-02-30T00:00:00Z"}]}`: {"Images[0].CreationDate", "Images[1].CreationDate"},
	} {
		images, err := amiselect.ReadImages([]byte(text))
		require.Nil(t, images)
		for _, part := range want {
			require.ErrorContains(t, err, part, text)
		}
	}
}

func TestCompare(t *testing.T) {
	old, recent := mine("ami-2", "a", "x86_64", "2024-01-01"), mine("ami-1", "a", "x86_64", "2024-02-01")
	gone := mine("ami-0", "z", "x86_64", "2024-08-01")
	gone.DeprecationTime = now
	soon := mine("ami-5", "z", "x86_64", "2024-01-15")
	soon.DeprecationTime = now.Add(time.Second)
	name, id := mine("ami-9", "b", "x86_64", "2024-01-01"), mine("ami-3", "a", "x86_64", "2024-01-01")
	want := []amiselect.Image{recent, soon, name, old, id, gone}
	got := []amiselect.Image{gone, id, old, name, soon, recent}
	slices.SortFunc(got, func(a, b amiselect.Image) int { return amiselect.Compare(now, a, b) })
	require.Equal(t, want, got)
	require.True(t, gone.Deprecated(now))
	require.False(t, soon.Deprecated(now))
	require.Zero(t, amiselect.Compare(now, old, old))
	require.Equal(t, "ami-2 (a)", old.String())
	require.Equal(t, "ami-7", amiselect.Image{ID: "ami-7"}.String())
}

func FuzzReadImages(f *testing.F) {
	f.Add([]byte(`{"Images": [{"ImageId": "ami-1", "CreationDate": "2024-08-07T18:11:01.000Z", "Architecture": "x86_64", "Tags": [{"Key": "k", "Value": "v"}]}]}`))
	f.Add([]byte(`{"Images": [{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		images, err := amiselect.ReadImages(data)
		if err != nil {
			require.Nil(t, images)
			return
		}
		s, err := amiselect.Select(now, []amiselect.Term{{Tags: map[string]string{"k": "*"}}}, images, nil)
		require.Equal(t, err != nil, s.Empty())
		for _, i := range s.Images() {
			require.Contains(t, i.Tags, "k")
		}
	})
}
