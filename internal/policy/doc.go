// Package policy tests the rules of the repository. It has no code except its tests, so nothing can
// import it.
//
// The rules, by name:
//
//   - compile: every package builds;
//   - imports: packages import one another in one direction only;
//   - dependencies: modules are used where testdata/dependencies.txt allows, and go.mod replaces
//     none;
//   - purity: decision packages do not reach for the network, the file system,
//     a logger, the clock or chance;
//   - variables: no package variable changes after start-up;
//   - comments: every exported identifier has a doc comment;
//   - examples: every public package has an Example whose output is checked;
//   - files: the name of a file says what is in it;
//   - large: the number of exported names of a public package is limited, and of packages of the
//     engine the number of lines;
//   - words: the code has no "to do" notes and no path of an author's machine;
//   - english: unclear words and phrases, which english_test.go lists, only get fewer;
//   - terms: names and file names in the engine use the words of its field;
//   - habits: the API keeps to the table "One habit for each thing" of docs/design.md;
//   - referee: the solver of plans and their referee share no code;
//   - snippets: Go code in Markdown is the text of a compiled Example, and
//     output shown there that of a file;
//   - links: relative links in Markdown have a target;
//   - tables: rows of tables in Markdown have as many cells as the table has columns;
//   - figures: tables of figures in Markdown agree with benchmarks/RESULTS.md;
//   - weight: the number of packages that the engine imports is limited;
//   - licenses: modules that are built in have the license in testdata/licenses.txt;
//   - versions: the library, its benchmarks and the controller require the same version of each
//     module, or one for each minor version of Kubernetes that they use;
//   - api: exported declarations are those of testdata/api.
//
// Every rule runs twice: on this module, where it must find nothing, and on testdata/faulty, a
// small module with a planted fault for each rule. Each fault is marked with the finding that it
// must cause.
//
// Known exceptions are listed with their reasons in testdata/exceptions.txt;
// one that is no longer needed is itself a finding. After an intended change
// of the API or of an Example, run
//
//	go test ./internal/policy -update
//
// and review the difference.
package policy
