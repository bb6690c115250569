package v1_test

import "fmt"

func Example() {
	fmt.Println()
	// Output:
}
