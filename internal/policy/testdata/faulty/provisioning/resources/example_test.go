package resources_test

import "fmt"

func Example() {
	fmt.Println()
	// Output:
}
