// want+4 api: gone: func Vanished()
// want+3 api: new: func Short(int) int

// Package provisioning reaches out into the world.
package provisioning
