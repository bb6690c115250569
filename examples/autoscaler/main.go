// Command autoscaler is a whole node autoscaler on a fake cloud, in virtual time:
// two days with a daily wave, nightly jobs, a deploy, spot interruptions, a
// shortage, a provider that panics and a new image go by in seconds.
//
//	autoscaler                     tell the story, and what it came to
//	autoscaler -html report.html   with plots, for a browser or a printer
//	autoscaler -hours 12 -v        half a day, with every decision
//	autoscaler -seed 7             customers, prices and interruptions of another kind
//
// The same flags print the same bytes. loop.go is the autoscaler; the rest is the
// world that it has to cope with, and the report.
//
// The exit code is 0; 1 when something broke; 2 when the flags are wrong.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
