// Package policy keeps the promises of the repository by test. It has no code
// of its own: everything is in its tests, so nothing can import it.
//
// What is checked, each as a rule with a name:
//
//   - compile: every package builds;
//   - imports: packages import one another in one direction only;
//   - dependencies: modules are used where testdata/dependencies.txt allows, and go.mod replaces
//     none;
//   - purity: decision packages do not reach for the network, the file system,
//     a logger, the clock or chance;
//   - variables: no package variable changes after start-up;
//   - comments: every exported identifier says what it is;
//   - examples: every public package has an Example whose output is checked;
//   - size: files and functions stay small enough to read;
//   - large: packages stay small enough to take in, by files and exported names;
//   - words: no promise is left in the code, no path of an author's machine;
//   - english: turns at which strangers stop, as english_test.go lists them, only get fewer;
//   - terms: the engine has the words of its field, in names and file names;
//   - referee: the solver of plans and their referee share no code;
//   - snippets: Go code in Markdown is the text of a compiled Example, and
//     output shown there that of a file;
//   - links: relative links in Markdown lead somewhere;
//   - tables: rows of tables in Markdown have as many cells as the table has columns;
//   - figures: tables of figures in Markdown say what benchmarks/RESULTS.md does;
//   - weight: importing the engine stays cheap;
//   - licenses: modules that are built in bear the license in testdata/licenses.txt;
//   - versions: the library, its benchmarks and controller ask for one version of each module,
//     or one for each minor version of Kubernetes that they ask for;
//   - api: exported declarations are those of testdata/api.
//
// A rule that cannot fail is worth nothing. Every rule runs twice: over this
// module, where it must find nothing, and over testdata/faulty, a small module
// in which each fault is planted and marked with the finding that it must
// cause.
//
// Known exceptions are listed with their reasons in testdata/exceptions.txt;
// one that is no longer needed is itself a finding. After an intended change
// of the API or of an Example, run
//
//	go test ./internal/policy -update
//
// and review the difference.
package policy
