package provisioning

import (
	"fmt"
	"log"       // want purity: provisioning may not import log
	"math/rand" // want purity: provisioning may not import math/rand
	"net/netip"
	"net/url" // want purity: provisioning may not import net/url
	"os"      // want purity: provisioning may not import os
	"time"
)

// Default is written to by package fake.
var Default = "a"

// Now asks what a pure package may not ask.
func Now() {
	now := time.Now // want purity: provisioning may not use time.Now
	// want+1 purity: provisioning may not use time.Sleep
	time.Sleep(time.Until(now()) * 1)              // want purity: provisioning may not use time.Until
	fmt.Println(netip.Addr{}, &url.URL{}, os.Args) // want purity: provisioning may not use fmt.Println
	println(rand.Int())                            // want purity: provisioning may not use println
	_ = Node{}.Name()
	log.Print(time.Duration(1).Seconds())
}

// TODO: a promise. // want words: "TODO"

// Machine is at /home/somebody. want words: a path of one machine

// Short counts.
func Short(n int) int { return n + 1 }
