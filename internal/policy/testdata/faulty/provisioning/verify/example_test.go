package verify_test

import "fmt"

func Example() {
	fmt.Println()
	// Output:
}
