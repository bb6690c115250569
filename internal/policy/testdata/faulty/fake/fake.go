package fake

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"sync"

	"example.com/faulty/provisioning" // want imports: fake may not import provisioning
)

// ErrSoldOut is a sentinel, which is fine.
var ErrSoldOut = errors.New("sold out")

// Tables and compiled patterns are fine too.
var (
	prices  = map[string]float64{"small": 1}
	pattern = regexp.MustCompile("a+")
	zones   = []string{"b", "a"}
	counter int
	total   struct{ n int }
	grid    [2][2]int
)

// Names is a slice that anybody may write to.
var Names = []string{"a"} // want variables: variable Names is exported, so importers could write into it

var mu sync.Mutex // want variables: variable mu is of type sync.Mutex, which exists to change

var events = make(chan int) // want variables: variable events is of type chan int

type tally struct{ n int }

func (t *tally) add()    { t.n++ }
func (t tally) get() int { return t.n }

var sum tally

func init() { // want variables: func init runs before anybody can ask it not to
	prices["large"] = 2 // want variables: variable prices is assigned
}

// Change writes in every way there is.
func Change() int {
	counter++                                      // want variables: variable counter is assigned
	total.n = 1                                    // want variables: variable total is assigned
	(grid[0])[1] += 2                              // want variables: variable grid is assigned
	p := &zones[0]                                 // want variables: variable zones has its address taken
	delete(prices, *p)                             // want variables: variable prices is written to by delete
	slices.SortFunc(zones, func(a, b string) int { // want variables: variable zones is written to by slices.SortFunc
		return 0
	})
	maps.Copy(prices, prices)   // want variables: variable prices is written to by maps.Copy
	sum.add()                   // want variables: variable sum has its address taken by method add
	provisioning.Default = "b"  // want variables: variable Default is assigned
	for counter = range zones { // want variables: variable counter is assigned
	}
	return sum.get() + len(pattern.String())
}

// Shadow writes to variables that only share a name with ours.
func Shadow() {
	counter, zones := 1, []string{"a"}
	counter++
	zones[0] = "b"
}
