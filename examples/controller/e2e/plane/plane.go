// Package plane starts a Kubernetes control plane on loopback for tests: etcd,
// kube-apiserver, kube-scheduler and kube-controller-manager, each a process with a
// port of its own. Nodes come from package kubelet.
package plane

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Plane is a running control plane.
type Plane struct {
	// Kubeconfig is the path of a kubeconfig with the rights of an administrator.
	Kubeconfig string

	binary, dir string
	token       string
	etcd        string
	apiserver   string // host:port
	processes   []*process
	client      *http.Client
}

// process is one component. done is closed when it has ended.
type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
	log  string
}

// Start starts a control plane that keeps its state and its logs in dir. It returns when pods can
// be created. After an error all processes are stopped.
func Start(ctx context.Context, binary, dir string) (_ *Plane, err error) {
	p := &Plane{binary: binary, dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig"), client: &http.Client{Timeout: 2 * time.Second}}
	defer func() {
		if err != nil {
			p.Stop()
		}
	}()
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	etcd, peers := "http://"+ports[0], "http://"+ports[1]
	p.etcd, p.apiserver, p.token = etcd, ports[2], rand.Text()
	if err := errors.Join(p.writeKey(), os.WriteFile(p.file("tokens.csv"), []byte(p.token+",admin,admin,system:masters\n"), 0o600)); err != nil {
		return nil, err
	}
	if err := p.start(ctx, "etcd", func() error { return p.get(etcd + "/health") }, "--name=local", "--data-dir="+filepath.Join(dir, "etcd"),
		"--unsafe-no-fsync", "--log-level=warn", "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd, "--listen-peer-urls="+peers,
		"--initial-advertise-peer-urls="+peers, "--initial-cluster=local="+peers); err != nil {
		return nil, err
	}
	if err := p.startServer(ctx); err != nil {
		return nil, err
	}
	config := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: e2e, cluster: {server: "https://%s", certificate-authority: %q}}]
users: [{name: e2e, user: {token: %q}}]
contexts: [{name: e2e, context: {cluster: e2e, user: e2e}}]
current-context: e2e
`, p.apiserver, p.file("apiserver.crt"), p.token)
	if err := os.WriteFile(p.Kubeconfig, []byte(config), 0o600); err != nil {
		return nil, err
	}
	clients := []string{"--kubeconfig=" + p.Kubeconfig, "--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000"}
	// Pods need the account of their namespace, which the controllers make last.
	account := func() error { return p.api("/api/v1/namespaces/default/serviceaccounts/default") }
	if err := p.start(ctx, "kube-controller-manager", account, append(clients, "--service-account-private-key-file="+p.file("accounts.key"),
		"--root-ca-file="+p.file("apiserver.crt"), "--concurrent-replicaset-syncs=20", "--concurrent-deployment-syncs=20")...); err != nil {
		return nil, err
	}
	return p, p.start(ctx, "kube-scheduler", func() error { return nil }, clients...)
}

func (p *Plane) startServer(ctx context.Context) error {
	host, port, err := net.SplitHostPort(p.apiserver)
	if err != nil {
		return err
	}
	return p.start(ctx, "kube-apiserver", func() error { return p.api("/readyz") }, "--etcd-servers="+p.etcd, "--bind-address="+host, "--advertise-address="+host,
		"--secure-port="+port, "--cert-dir="+p.dir, "--token-auth-file="+p.file("tokens.csv"), "--authorization-mode=RBAC", "--anonymous-auth=false",
		"--service-cluster-ip-range=10.96.0.0/16", "--endpoint-reconciler-type=none", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+p.file("accounts.key"), "--service-account-signing-key-file="+p.file("accounts.key"),
		"--max-requests-inflight=3000", "--max-mutating-requests-inflight=1000", "--enable-priority-and-fairness=false")
}

// Outage stops the API server for a time: connections break, and requests are refused meanwhile.
func (p *Plane) Outage(ctx context.Context, d time.Duration) error {
	i := slices.IndexFunc(p.processes, func(c *process) bool { return c.name == "kube-apiserver" })
	c := p.processes[i]
	_ = c.cmd.Process.Kill() // a crash; it may have ended
	<-c.done
	p.processes = slices.Delete(p.processes, i, i+1)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
	}
	if err := p.startServer(ctx); err != nil {
		return err
	}
	last := len(p.processes) - 1 // clients are stopped first
	p.processes = slices.Insert(p.processes[:last], i, p.processes[last])
	return nil
}

func (p *Plane) file(name string) string { return filepath.Join(p.dir, name) }

// freePorts returns addresses on loopback on which no program listens now.
func freePorts(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// writeKey makes the key that tokens of service accounts are signed with.
func (p *Plane) writeKey() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return os.WriteFile(p.file("accounts.key"), text, 0o600)
}

// start starts a component, and waits until ready returns no error. Its standard input stays open
// until this program ends.
func (p *Plane) start(ctx context.Context, name string, ready func() error, flags ...string) error {
	log := p.file(name + ".log")
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(p.binary, append([]string{name}, flags...)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for who started it
	if _, err := cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c := &process{name, cmd, make(chan struct{}), log}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(c.done)
	}()
	p.processes = append(p.processes, c)
	return c.wait(ctx, ready)
}

// wait repeats ready until it returns no error. It returns an error if the component ends.
func (c *process) wait(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		err := ready()
		select {
		case <-c.done:
			return fmt.Errorf("%s has ended:\n%s", c.name, c.tail())
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", c.name, err, c.tail())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *process) tail() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

func (p *Plane) get(url string) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	answer, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// api sends a request to the API server, whose certificate exists once it has begun to serve.
func (p *Plane) api(path string) error {
	authority, err := os.ReadFile(p.file("apiserver.crt"))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	p.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}
	return p.get("https://" + p.apiserver + path)
}

// Stop stops all components, in reverse order. Files stay.
func (p *Plane) Stop() {
	for _, c := range slices.Backward(p.processes) {
		_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-c.done:
		case <-time.After(5 * time.Second):
			_ = c.cmd.Process.Kill()
			<-c.done
		}
	}
	p.processes = nil
}
