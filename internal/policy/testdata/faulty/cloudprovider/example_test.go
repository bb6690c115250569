package cloudprovider_test

import (
	"fmt"

	_ "example.com/unlisted" // want dependencies: cloudprovider may not import module example.com/unlisted
)

func Example() {
	// A comment belongs to the code.
	if true {
		fmt.Println("hello")
	}

	// Output: hello
}

func ExampleUnchecked() {
	fmt.Println("hello")
}
