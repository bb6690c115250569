// Package offerings gives the instance types that a class can launch, from all
// that package source knows.
//
// # Model
//
// [Builder.Build] takes a resolved class and returns a catalog: package catalog
// makes it from the inventory, prices, zonal shifts, the stock of reservations, the
// placement group, and the memory that nodes have reported. It is kept for the class
// and handed out again until something that it was made of changes, or it is
// [Options.MaxAge] old.
//
// # Left out
//
// Offerings that EC2 refused of late, and NodeOverlays: both are applied to what
// comes from here.
//
// # Guarantees
//
// A catalog is read-only and shared. One that is incomplete is an error. It does
// not depend on how often it was asked for. All methods may be called concurrently;
// callers for one class wait for one build.
package offerings
