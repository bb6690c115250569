package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Every second write of the controller is refused, as if somebody else had written the
// object meanwhile: nodes are launched, replaced and drained all the same, none twice.
func TestConflict(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.stop(syscall.SIGTERM)
	refused := s.refuse(func(n int64) bool { return n%2 == 1 })
	s.start()
	launched := s.small()
	planned := s.entries("planned")
	assert.EqualValues(t, number(planned[0], "create"), len(launched.nodes))
	s.pool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "b"} })
	tally := newTally()
	l, took := s.watch(6*time.Minute, "none has drifted", func(l look) error {
		tally.count(l)
		if err := settled(l, 60); err != nil {
			return err
		}
		return labelled(l)
	})
	assert.Empty(t, tally.breaches, "budgets breached")
	s.report("%d writes refused, each second one: %d nodes launched in %d plans, all replaced after %.0f s by %d; from %.4f to %.4f USD/h, a pod pending for %.0f s at most",
		refused(), len(launched.nodes), len(planned), took.Seconds(), len(l.nodes), launched.cost, l.cost, tally.longest.Seconds())
}

// refuse puts a proxy between the controller and the API server, which answers those
// writes itself, counted from one, that it is told to, and says how many these were.
func (s *scene) refuse(which func(int64) bool) (count func() int64) {
	s.Helper()
	kubeconfig, err := clientcmd.LoadFromFile(s.kubeconfig)
	s.must(err)
	cluster := kubeconfig.Clusters["e2e"]
	target, err := url.Parse(cluster.Server)
	s.must(err)
	authority, err := os.ReadFile(cluster.CertificateAuthority)
	s.must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	proxy.FlushInterval = -1 // watches
	var writes, refused atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || !which(writes.Add(1)) {
			proxy.ServeHTTP(w, r)
			return
		}
		refused.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Message: "the object has been modified: " + r.Method + " " + r.URL.Path})
	}))
	server.EnableHTTP2 = true
	server.StartTLS() // tokens are not sent without
	s.Cleanup(func() {
		s.stop(syscall.SIGTERM)
		server.CloseClientConnections() // watches do not end by themselves
		server.Close()
	})
	cluster.Server, cluster.CertificateAuthority = server.URL, ""
	cluster.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	s.must(clientcmd.WriteToFile(*kubeconfig, s.kubeconfig))
	return refused.Load
}
