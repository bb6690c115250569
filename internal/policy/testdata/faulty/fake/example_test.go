package fake_test

import "fmt"

func Example() {
	fmt.Println()
	// Output:
}
