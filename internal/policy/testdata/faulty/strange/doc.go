// want+2 imports: package strange has no layer

package strange // want comments: package strange has no package comment
