// Command controlplane is etcd, kube-apiserver, kube-scheduler and kube-controller-manager in one
// binary: the first argument selects the component, the others are passed to it. The process ends
// when its standard input is closed, so that it does not outlive the program that started it.
//
// It is a module of its own, because k8s.io/kubernetes requires its own versions of all its
// dependencies.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	components := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
		"kube-controller-manager": controllers.NewControllerManagerCommand,
	}
	if len(os.Args) < 2 || os.Args[1] != "etcd" && components[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-scheduler|kube-controller-manager FLAGS")
		os.Exit(2)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // an error is an end as well
		os.Exit(1)
	}()
	os.Args = os.Args[1:]
	if os.Args[0] == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	os.Exit(cli.Run(components[os.Args[0]]()))
}
