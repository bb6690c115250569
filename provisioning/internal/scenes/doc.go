// Package scenes has inputs, plans and objects for tests of the engine and of its referee.
package scenes
