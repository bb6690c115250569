module example.com/unlisted

go 1.26.0

require k8s.io/client-go v0.0.0
