package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// script is what the cloud does wrong on purpose, each thing once. The keys are
// the patterns of the routes.
type script struct {
	fail map[string]string // the code to fail with
	hang map[string]*hang
	lose bool // the answer to the next order
}

// hang holds a call up until release is closed, and closes reached when the call
// has come.
type hang struct{ reached, release chan struct{} }

// The routes of the API.
const (
	routeShapes     = "GET /v1/shapes"
	routeClass      = "GET /v1/classes/{name}"
	routeOrder      = "POST /v1/servers"
	routeList       = "GET /v1/servers"
	routeServer     = "GET /v1/servers/{id}"
	routeStop       = "DELETE /v1/servers/{id}"
	routeRestart    = "POST /v1/servers/{id}/restarts/{operation}"
	routeNotices    = "GET /v1/notices"
	routeNoticeDone = "POST /v1/notices/done"
)

// handler is the API. Each route answers with a value or refuses.
func (c *cloud) handler() http.Handler {
	mux := http.NewServeMux()
	serve := func(route string, answer func(*http.Request) (any, *apiError)) {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			if !c.wait(route, r) {
				return // the caller has gone
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if e := c.scripted(route, r); e != nil {
				refuse(w, e)
				return
			}
			out, e := answer(r)
			if e != nil {
				refuse(w, e)
				return
			}
			if route == routeOrder && c.script.lose {
				c.script.lose = false
				panic(http.ErrAbortHandler) // the connection breaks
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(out) // the caller has gone, then
		})
	}
	serve(routeShapes, func(*http.Request) (any, *apiError) { return c.shapes, nil })
	serve(routeClass, func(r *http.Request) (any, *apiError) {
		if class, found := c.classes[r.PathValue("name")]; found {
			return class, nil
		}
		return nil, &apiError{Code: codeNoSuchClass, Message: "there is no such class"}
	})
	serve(routeOrder, func(r *http.Request) (any, *apiError) {
		var o order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			return nil, &apiError{Code: codeInvalid, Message: err.Error()}
		}
		return c.launch(o)
	})
	serve(routeList, func(r *http.Request) (any, *apiError) {
		return c.list(r.FormValue("cluster"), r.FormValue("after")), nil
	})
	c.serveServers(serve)
	return mux
}

// serveServers serves the routes of single servers, and of notices.
func (c *cloud) serveServers(serve func(string, func(*http.Request) (any, *apiError))) {
	one := func(do func(*server, *http.Request)) func(*http.Request) (any, *apiError) {
		return func(r *http.Request) (any, *apiError) {
			s := c.find(r.PathValue("id"))
			if s == nil {
				return nil, &apiError{Code: codeNoSuchServer, Message: "there is no such server"}
			}
			do(s, r)
			return s, nil
		}
	}
	serve(routeServer, one(func(*server, *http.Request) {}))
	serve(routeStop, one(func(s *server, _ *http.Request) { c.stop(s) }))
	serve(routeRestart, one(func(s *server, r *http.Request) { s.restarts[r.PathValue("operation")] = true }))
	serve(routeNotices, func(r *http.Request) (any, *apiError) {
		return slices.DeleteFunc(slices.Clone(c.notices), func(n notice) bool { return n.Server.Cluster != r.FormValue("cluster") }), nil
	})
	serve(routeNoticeDone, func(r *http.Request) (any, *apiError) {
		var ids []string
		if err := json.NewDecoder(r.Body).Decode(&ids); err != nil {
			return nil, &apiError{Code: codeInvalid, Message: err.Error()}
		}
		c.notices = slices.DeleteFunc(c.notices, func(n notice) bool { return slices.Contains(ids, n.ID) })
		return ids, nil
	})
}

// wait holds a call up that the script wants to hang, and reports false if the
// caller does not wait that long.
func (c *cloud) wait(route string, r *http.Request) bool {
	c.mu.Lock()
	h := c.script.hang[route]
	delete(c.script.hang, route)
	c.mu.Unlock()
	if h == nil {
		return true
	}
	close(h.reached)
	select {
	case <-h.release:
		return true
	case <-r.Context().Done():
		return false
	}
}

// scripted is the failure that the script has for a call. Of a list it is the
// last page that fails.
func (c *cloud) scripted(route string, r *http.Request) *apiError {
	code, found := c.script.fail[route]
	if !found || route == routeList && c.list(r.FormValue("cluster"), r.FormValue("after")).Next != "" {
		return nil
	}
	delete(c.script.fail, route)
	return &apiError{Code: code, Message: "on purpose"}
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, e *apiError) {
	status, found := map[string]int{
		codeNoSuchServer: http.StatusNotFound, codeNoSuchClass: http.StatusNotFound, codeClassNotReady: http.StatusConflict,
		codeSoldOut: http.StatusConflict, codeInvalid: http.StatusUnprocessableEntity, codeTooMany: http.StatusTooManyRequests,
	}[e.Code]
	if !found {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	if e.Code == codeTooMany {
		w.Header().Set("Retry-After", "2")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(e) // the caller has gone, then
}

// announce issues a notice about a server.
func (c *cloud) announce(id, what string, in time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.find(id); s != nil {
		c.notices = append(c.notices, c.noticeFor(s, what, in))
	}
}

func (c *cloud) noticeFor(s *server, what string, in time.Duration) notice {
	return notice{ID: "note-" + s.ID, What: what, Server: *s, Issued: c.time, Due: c.time.Add(in)}
}

// sellOut leaves nothing of the choices.
func (c *cloud) sellOut(choices ...choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range choices {
		c.soldOut[o] = true
	}
}

// setClass adds a class, or changes the one of that name.
func (c *cloud) setClass(k class) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classes[k.Name] = k
}
