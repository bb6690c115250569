// Package unlisted brings a client along.
package unlisted

import _ "k8s.io/client-go/rest"
