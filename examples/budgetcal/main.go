// Command budgetcal prints how many nodes the disruption budgets of a NodePool
// let go, hour by hour, as a table or as a picture.
//
//	budgetcal                                   the budgets of a sample
//	budgetcal -f pool.yaml -nodes 50            those of one's own
//	budgetcal -o svg > week.svg                 a picture: days across, hours down
//	kubectl get nodepool web -o yaml | budgetcal -f - -tz Europe/Berlin
//
// The week is a fixed one unless -from names another, so that the same input
// prints the same bytes.
//
// The exit code is 0; 1 when something broke; 2 when the input or the flags are
// wrong.
package main

import (
	"os"
	_ "time/tzdata" // budgets may be in any time zone
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
