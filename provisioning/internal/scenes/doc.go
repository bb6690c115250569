// Package scenes has inputs, plans and objects that tests of the engine and of its
// referee start from.
package scenes
