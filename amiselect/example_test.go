package amiselect_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// catalogImages are what AWS publishes of two releases.
func catalogImages() []amiselect.Image { return al2023("1.31", "20240703", "20240807") }

// What a cluster at the latest runs is locked, and the lock promoted to
// production.
func Example() {
	terms := []amiselect.Term{{Alias: "al2023@latest"}}
	opts := &amiselect.Options{Environment: amiselect.Environment{KubernetesVersion: "1.31"}}
	selection, err := amiselect.Select(now, terms, catalogImages(), opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	image, _ := selection.For(m7g)
	fmt.Println(image.Name)
	lock, err := amiselect.Lock(terms, selection)
	fmt.Println(lock, err)
	// Output:
	// amazon-eks-node-al2023-arm64-standard-1.31-v20240807
	// [alias "al2023@v20240807"] <nil>
}

func ExampleParseAlias() {
	for _, text := range []string{"al2023@v20240807", "bottlerocket@latest~1", "AL2@latest"} {
		a, err := amiselect.ParseAlias(text)
		fmt.Println(a.Family, a.Static(), a.Back, err)
	}
	// Output:
	// AL2023 true 0 <nil>
	// Bottlerocket false 1 <nil>
	//  false 0 alias "AL2@latest": family "AL2" must be in lower case: al2
}

func ExampleParsePattern() {
	p, err := amiselect.ParsePattern(`golden-*-v?`)
	fmt.Println(p.Match("golden-x86_64-v1"), p.Match("golden-v1"), p.Literal(), err)
	// Output: true false false <nil>
}

func ExampleValidateTerms() {
	for _, fault := range amiselect.ValidateTerms(nil, []amiselect.Term{{ID: "ami-1", Name: "x"}, {Owner: "self"}}) {
		fmt.Println(fault)
	}
	// Output:
	// amiSelectorTerms[0].name: Forbidden: does not go with id, which decides alone; put it in a term of its own, or remove it
	// amiSelectorTerms[1]: Required value: an owner alone would select all of its images; add a name or tags
}

func ExampleResolveFamily() {
	family, faults := amiselect.ResolveFamily(nil, "", []amiselect.Term{{Alias: "bottlerocket@latest"}})
	fmt.Println(family, len(faults))
	// Output: Bottlerocket 0
}

func ExampleFamilies() {
	for _, f := range amiselect.Families() {
		fmt.Printf("%s %q\n", f, f.AliasName())
	}
	// Output:
	// AL2 "al2"
	// AL2023 "al2023"
	// Bottlerocket "bottlerocket"
	// Custom ""
	// Windows2019 "windows2019"
	// Windows2022 "windows2022"
	// Windows2025 "windows2025"
}

// The caller reads the parameters, asks again, and describes the images.
func ExampleQueries() {
	terms := []amiselect.Term{{Name: "golden-*"}, {SSMParameter: "/golden/x86"}}
	env := amiselect.Environment{}
	queries, _ := amiselect.Queries(terms, env)
	fmt.Println(queries[0].Kind, queries[0].Parameter)

	env.Parameters = map[string]string{"/golden/x86": "ami-1"}
	queries, _ = amiselect.Queries(terms, env)
	for _, q := range queries {
		fmt.Println(q.Kind, q.Filters, q.Owners)
	}
	// Output:
	// Parameter /golden/x86
	// Images [{state [available]} {image-id [ami-1]}] []
	// Images [{state [available]} {name [golden-*]}] [self amazon]
}

// A new image must have been out for a week.
func ExampleSelect() {
	opts := &amiselect.Options{
		Environment: amiselect.Environment{KubernetesVersion: "1.31"},
		MinAge:      7 * 24 * time.Hour,
	}
	selection, err := amiselect.Select(date("2024-08-10"), []amiselect.Term{{Alias: "al2023@latest"}}, catalogImages(), opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	image, _ := selection.For(m5)
	fmt.Println(image.Name)
	fmt.Println(selection.PassedOver()[0].Explanation)
	// Output:
	// amazon-eks-node-al2023-x86_64-standard-1.31-v20240703
	// ami-x86std20240807 (amazon-eks-node-al2023-x86_64-standard-1.31-v20240807) is 3d old and must be 7d, which it is from 2024-08-14 00:00:00 UTC on
}

// An alias has an image for each architecture and kind of machine.
func ExampleSelection_Choices() {
	opts := &amiselect.Options{Environment: amiselect.Environment{KubernetesVersion: "1.31"}}
	selection, err := amiselect.Select(date("2024-08-10"), []amiselect.Term{{Alias: "al2023@latest"}}, catalogImages(), opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range selection.Choices() {
		fmt.Println(c.Variant, c.Image.ID, "by term", c.Term)
	}
	fmt.Println(len(selection.Images()), "images, by", selection.Terms(), selection.Empty())
	// Output:
	// standard ami-x86std20240807 by term 0
	// nvidia ami-x86nvidia20240807 by term 0
	// neuron ami-x86neuron20240807 by term 0
	// standard ami-armstd20240807 by term 0
	// nvidia ami-armnvidia20240807 by term 0
	// 5 images, by [alias "al2023@latest"] false
}

func ExampleSelection_Drifted() {
	opts := &amiselect.Options{Environment: amiselect.Environment{KubernetesVersion: "1.31"}}
	selection, err := amiselect.Select(now, []amiselect.Term{{Alias: "al2023@v20240807"}}, catalogImages(), opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	reason, drifted := selection.Drifted("ami-armstd20240703")
	fmt.Println(drifted, reason.Code, reason.Detail, reason.ReplacementID)
	// Output: true Release is of release v20240703, the alias is al2023@v20240807 ami-armstd20240807
}

func ExampleSelection_DriftedOn() {
	selection, err := amiselect.Select(now, []amiselect.Term{{ID: "ami-armstd20240703"}}, catalogImages(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	reason, drifted := selection.DriftedOn("ami-armstd20240703", m5)
	fmt.Println(drifted, reason.Code)
	// Output: true NoImageForType
}

func ExampleLock() {
	terms := []amiselect.Term{{Tags: map[string]string{"env": "prod"}}}
	images := []amiselect.Image{
		mine("ami-1", "golden-1", "x86_64", "2024-07-01", "env", "prod"),
		mine("ami-2", "golden-2", "x86_64", "2024-08-01", "env", "prod"),
	}
	selection, err := amiselect.Select(now, terms, images, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(amiselect.Lock(terms, selection))
	// Output: [id "ami-2"] <nil>
}

func ExampleDiff() {
	opts := &amiselect.Options{Environment: amiselect.Environment{KubernetesVersion: "1.31"}}
	old, _ := amiselect.Select(now, []amiselect.Term{{Alias: "al2023@v20240703"}}, catalogImages(), opts)
	next, _ := amiselect.Select(now, []amiselect.Term{{Alias: "al2023@v20240807"}}, catalogImages(), opts)
	var nodes []amiselect.Node
	for _, name := range []string{"one", "two"} {
		nodes = append(nodes, amiselect.Node{Name: name, ImageID: "ami-x86std20240703", InstanceType: m5})
	}
	diff, err := amiselect.Diff(old, next, nodes)
	for _, n := range diff.Drifted {
		fmt.Println(n.Name, n.Explanation.Code, n.To.ID)
	}
	fmt.Println(err)
	// Output:
	// one Release ami-x86std20240807
	// two Release ami-x86std20240807
	// <nil>
}

func ExampleReadImages() {
	images, err := amiselect.ReadImages([]byte(`{"Images": [{"ImageId": "ami-1", "Name": "golden", "CreationDate": "2024-08-07T18:11:01.000Z"}]}`))
	fmt.Println(images[0], err)
	// Output: ami-1 (golden) <nil>
}

func ExampleParseTime() {
	fmt.Println(amiselect.ParseTime("2024-08-07T18:11:01.000Z"))
	// Output: 2024-08-07 18:11:01 +0000 UTC <nil>
}

func ExampleRelease() {
	fmt.Println(amiselect.Release("bottlerocket-aws-k8s-1.31-aarch64-v1.20.4-b6163b2a"))
	// Output: Bottlerocket 1.31 v1.20.4 true
}

func ExampleCompare() {
	images := catalogImages()
	slices.SortFunc(images, func(a, b amiselect.Image) int { return amiselect.Compare(now, a, b) })
	fmt.Println(images[0].Name)
	// Output: amazon-eks-node-al2023-x86_64-standard-1.31-v20240807
}
