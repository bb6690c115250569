package puddlecloud

import (
	"encoding/json"
	"net/http"
	"slices"
)

// script is the failures that tests have requested, each for one call. The keys are the patterns of
// the routes.
type script struct {
	fail map[string]string                   // error code of the next call
	hang map[string]func(*http.Request) bool // waits; false if the caller gives up first
	lose int                                 // number of next orders whose answers are lost
}

// Fail makes the next call of a route fail with a code.
func (c *Cloud) Fail(route, code string) {
	c.with(func() { c.script.fail = map[string]string{route: code} })
}

// Lose makes the cloud carry out the next order and lose the answer. Called twice, it affects the
// next two orders.
func (c *Cloud) Lose() { c.with(func() { c.script.lose++ }) }

// Hang delays the next call of a route until release is called. reached is closed when the call has
// arrived.
func (c *Cloud) Hang(route string) (reached <-chan struct{}, release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	here, goOn := make(chan struct{}), make(chan struct{})
	c.script.hang = map[string]func(*http.Request) bool{route: func(r *http.Request) bool {
		close(here)
		select {
		case <-goOn:
			return true
		case <-r.Context().Done():
			return false
		}
	}}
	return here, func() { close(goOn) }
}

// The routes of the API.
const (
	RouteShapes     = "GET /v1/shapes"
	RouteClass      = "GET /v1/classes/{name}"
	RouteOrder      = "POST /v1/servers"
	RouteList       = "GET /v1/servers"
	RouteServer     = "GET /v1/servers/{id}"
	RouteStop       = "DELETE /v1/servers/{id}"
	RouteRestart    = "POST /v1/servers/{id}/restarts/{operation}"
	RouteNotices    = "GET /v1/notices"
	RouteNoticeDone = "POST /v1/notices/done"
)

// Handler returns the HTTP handler of the API.
func (c *Cloud) Handler() http.Handler {
	mux := http.NewServeMux()
	serve := func(route string, answer func(*http.Request) (any, *Error)) {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			c.mu.Lock()
			hang := c.script.hang[route]
			delete(c.script.hang, route)
			c.mu.Unlock()
			if hang != nil && !hang(r) {
				return // the caller has gone
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if e := c.scripted(route, r); e != nil {
				Refuse(w, e)
				return
			}
			out, e := answer(r)
			if e != nil {
				Refuse(w, e)
				return
			}
			if route == RouteOrder && c.script.lose > 0 {
				c.script.lose--
				panic(http.ErrAbortHandler) // the connection breaks
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(out) // the caller has gone, then
		})
	}
	serve(RouteShapes, func(*http.Request) (any, *Error) { return c.shapes, nil })
	serve(RouteClass, func(r *http.Request) (any, *Error) {
		if class, found := c.classes[r.PathValue("name")]; found {
			return class, nil
		}
		return nil, &Error{Code: CodeNoSuchClass, Message: "there is no such class"}
	})
	serve(RouteOrder, func(r *http.Request) (any, *Error) {
		var o Order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			return nil, &Error{Code: CodeInvalid, Message: err.Error()}
		}
		return c.launch(o)
	})
	serve(RouteList, func(r *http.Request) (any, *Error) {
		return c.list(r.FormValue("cluster"), r.FormValue("after")), nil
	})
	one := func(do func(*Server, *http.Request)) func(*http.Request) (any, *Error) {
		return func(r *http.Request) (any, *Error) {
			s := c.find(r.PathValue("id"))
			if s == nil {
				return nil, &Error{Code: CodeNoSuchServer, Message: "there is no such server"}
			}
			do(s, r)
			return s, nil
		}
	}
	serve(RouteServer, one(func(*Server, *http.Request) {}))
	serve(RouteStop, one(func(s *Server, _ *http.Request) { c.stop(s) }))
	serve(RouteRestart, one(func(s *Server, r *http.Request) { s.restarts[r.PathValue("operation")] = true }))
	serve(RouteNotices, func(r *http.Request) (any, *Error) {
		return slices.DeleteFunc(slices.Clone(c.notices), func(n Notice) bool { return n.Server.Cluster != r.FormValue("cluster") }), nil
	})
	serve(RouteNoticeDone, func(r *http.Request) (any, *Error) {
		var ids []string
		if err := json.NewDecoder(r.Body).Decode(&ids); err != nil {
			return nil, &Error{Code: CodeInvalid, Message: err.Error()}
		}
		c.notices = slices.DeleteFunc(c.notices, func(n Notice) bool { return slices.Contains(ids, n.ID) })
		return ids, nil
	})
	return mux
}

// scripted returns the failure requested for a call, nil for none. For a list, it is the last page
// that fails.
func (c *Cloud) scripted(route string, r *http.Request) *Error {
	code, found := c.script.fail[route]
	if !found || route == RouteList && c.list(r.FormValue("cluster"), r.FormValue("after")).Next != "" {
		return nil
	}
	delete(c.script.fail, route)
	return &Error{Code: code, Message: "on purpose"}
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, e *Error) {
	status, found := map[string]int{
		CodeNoSuchServer: http.StatusNotFound, CodeNoSuchClass: http.StatusNotFound, CodeClassNotReady: http.StatusConflict,
		CodeSoldOut: http.StatusConflict, CodeInvalid: http.StatusUnprocessableEntity, CodeTooMany: http.StatusTooManyRequests,
	}[e.Code]
	if !found {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	if e.Code == CodeTooMany {
		w.Header().Set("Retry-After", "2")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(e) // the caller has gone, then
}
