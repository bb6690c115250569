// Package fake writes into variables of its own and of others.
package fake // want api: api/fake.txt is missing
