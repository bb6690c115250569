// Command up starts a control plane with machines that boot, prints how to reach it,
// and takes it down when it is interrupted:
//
//	go -C examples/controller run ./e2e/up
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/dovetail-sdk/dovetail/examples/controller/e2e/kubelet"
	"github.com/dovetail-sdk/dovetail/examples/controller/e2e/plane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	const source = "e2e/controlplane"
	if _, err := plane.Cached(source); err != nil {
		fmt.Fprintln(os.Stderr, "building a control plane, which takes ten minutes or more")
	}
	binary, err := plane.Build(ctx, source)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "dovetail-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := plane.Start(ctx, binary, dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	fmt.Printf("export KUBECONFIG=%s\n", filepath.ToSlash(p.Kubeconfig))
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 500, 1000
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	return kubelet.Run(ctx, config, 3*time.Second)
}
