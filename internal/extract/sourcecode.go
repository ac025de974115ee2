package extract

import (
	"bytes"
	"path"
	"strings"
)

// codeType gives the media type of source code by the type that it came with,
// its name, or how it begins; "" for what is none. What is left of a media type
// without text/, application/ and x- is the name of its language; package render
// reads it from there.
func codeType(text []byte, mt, urlPath string) string {
	if lang := languageOfType(mt); lang != "" {
		return typeOfLanguage(lang)
	}
	if !isPlain(mt) && isTextType(mt) && mt != "text/html" {
		return ""
	}
	if lang := languageOfBeginning(text); lang != "" {
		return typeOfLanguage(lang)
	}
	if mt == "text/html" {
		return ""
	}
	base := strings.ToLower(path.Base(urlPath))
	if lang := languageOfName(base); lang != "" {
		return typeOfLanguage(lang)
	}
	ext := path.Ext(base)
	if ext == "" {
		return ""
	}
	lang := languageOfExtension(ext[1:])
	if runsOnServers(ext[1:]) && !bytes.Contains(text[:min(len(text), sniffBytes)], []byte("<?php")) && !bytes.Contains(text[:min(len(text), sniffBytes)], []byte("<%")) {
		return "" // what such a program has written, not the program
	}
	return typeOfLanguage(lang)
}

// runsOnServers says whether what an address ends in names a program that the
// server runs, so that its answer is what the program wrote.
func runsOnServers(ext string) bool {
	switch ext {
	case "php", "php3", "php4", "php5", "phtml", "asp", "aspx", "jsp", "cfm", "cgi":
		return true
	}
	return false
}

// typeOfLanguage gives the media type for a language.
func typeOfLanguage(lang string) string {
	switch lang {
	case "":
		return ""
	case "javascript", "css":
		return "text/" + lang
	case "json5", "yaml", "toml", "sql", "graphql", "xml", "wasm":
		return "application/" + lang
	}
	return "text/x-" + lang
}

// languageOfType reads the language from a media type.
func languageOfType(mt string) string {
	_, sub, ok := strings.Cut(mt, "/")
	if !ok || strings.HasPrefix(mt, "image/") || strings.HasPrefix(mt, "audio/") || strings.HasPrefix(mt, "video/") || strings.HasPrefix(mt, "font/") {
		return ""
	}
	sub = strings.TrimPrefix(sub, "x-")
	switch sub {
	case "javascript", "ecmascript", "javascript1.5", "jscript", "livescript":
		return "javascript"
	case "typescript":
		return "typescript"
	case "css", "scss", "sass", "less":
		return sub
	case "yaml", "vnd.yaml", "yml":
		return "yaml"
	case "toml", "sql", "graphql", "json5", "diff", "patch", "go", "rust", "java", "kotlin", "scala", "swift", "ruby", "perl", "lua", "haskell", "erlang", "elixir",
		"clojure", "groovy", "dart", "julia", "r", "fortran", "pascal", "ocaml", "lisp", "scheme", "ini", "dockerfile", "makefile", "cmake", "nix", "zig", "vue",
		"protobuf", "vhdl", "verilog", "asm", "bibtex", "tcl", "csharp", "fsharp", "powershell", "bat", "awk", "sed", "objectivec":
		if sub == "patch" {
			return "diff"
		}
		return sub
	case "python", "script.python", "python-script":
		return "python"
	case "sh", "shellscript", "shell", "bash", "csh", "zsh":
		return "sh"
	case "c", "csrc", "chdr":
		return "c"
	case "c++", "c++src", "c++hdr", "cpp":
		return "cpp"
	case "java-source", "javasrc":
		return "java"
	case "rustsrc", "rs":
		return "rust"
	case "golang", "gosrc":
		return "go"
	case "php", "httpd-php", "httpd-php-source":
		return "php"
	case "tex", "latex":
		return "tex"
	case "ruby-script":
		return "ruby"
	}
	return ""
}

// languageOfBeginning tells source code by its first line: an interpreter, a
// difference between files, or PHP.
func languageOfBeginning(text []byte) string {
	head := text[:min(len(text), 4096)]
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case bytes.HasPrefix(first, []byte("#!")):
		return languageOfInterpreter(string(bytes.TrimSpace(first[2:])))
	case bytes.HasPrefix(first, []byte("<?php")):
		return "php"
	case bytes.HasPrefix(first, []byte("diff --git ")), bytes.HasPrefix(first, []byte("Index: ")) && bytes.Contains(rest, []byte("\n--- ")),
		bytes.HasPrefix(first, []byte("--- ")) && bytes.HasPrefix(rest, []byte("+++ ")) && bytes.Contains(rest, []byte("\n@@ ")):
		return "diff"
	case bytes.HasPrefix(first, []byte("From ")) && bytes.Contains(rest, []byte("\nSubject: ")):
		// A patch as git sends it; a letter has no such lines behind it.
		body := text[:min(len(text), 64<<10)]
		if bytes.Contains(body, []byte("\ndiff --git ")) || bytes.Contains(body, []byte("\n--- a/")) {
			return "diff"
		}
	}
	return ""
}

// languageOfInterpreter reads a "#!" line without its sign.
func languageOfInterpreter(line string) string {
	for i, word := range strings.Fields(line) {
		if i > 4 {
			break
		}
		word = path.Base(word)
		if word == "env" || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		word = strings.TrimRight(word, "0123456789.-")
		switch word {
		case "sh", "bash", "zsh", "dash", "ksh", "ash":
			return "sh"
		case "node", "nodejs", "bun":
			return "javascript"
		case "deno", "ts-node", "tsx":
			return "typescript"
		case "python", "pypy", "uv":
			return "python"
		case "Rscript":
			return "r"
		case "pwsh":
			return "powershell"
		case "gawk", "mawk":
			return "awk"
		case "wish", "tclsh":
			return "tcl"
		case "runhaskell", "runghc":
			return "haskell"
		case "make":
			return "makefile"
		case "perl", "ruby", "php", "lua", "awk", "sed", "fish", "groovy", "julia", "elixir", "escript", "swift", "nix-shell", "guile", "ocaml":
			switch word {
			case "escript":
				return "erlang"
			case "nix-shell":
				return "nix"
			case "guile":
				return "scheme"
			}
			return word
		}
		return ""
	}
	return ""
}

// languageOfName knows files whose whole name says what they are; name is in
// lower case.
func languageOfName(name string) string {
	switch name {
	case "dockerfile", "containerfile":
		return "dockerfile"
	case "makefile", "gnumakefile", "bsdmakefile":
		return "makefile"
	case "cmakelists.txt":
		return "cmake"
	case "jenkinsfile":
		return "groovy"
	case "vagrantfile", "gemfile", "rakefile", "podfile", "brewfile", "fastfile", "guardfile":
		return "ruby"
	case "go.mod", "go.work":
		return "go-mod"
	case "cargo.lock", "poetry.lock", "pipfile", "uv.lock":
		return "toml"
	case "pipfile.lock", "composer.lock":
		return "" // JSON, which tells itself
	case ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", "pkgbuild", "apkbuild":
		return "sh"
	case ".gitconfig", ".editorconfig", ".npmrc", ".flake8", ".pylintrc":
		return "ini"
	case ".clang-format", ".clang-tidy":
		return "yaml"
	case "justfile":
		return "just"
	case "meson.build":
		return "meson"
	case "build.bazel", "workspace.bazel", "module.bazel":
		return "starlark"
	}
	if strings.HasPrefix(name, "dockerfile.") || strings.HasPrefix(name, "containerfile.") {
		return "dockerfile"
	}
	if strings.HasPrefix(name, "makefile.") && !strings.HasSuffix(name, ".txt") {
		return "makefile"
	}
	return ""
}

// languageOfExtension knows what the name of a file ends in, without the dot and
// in lower case.
func languageOfExtension(ext string) string {
	switch ext {
	case "go", "lua", "swift", "dart", "zig", "nim", "sql", "css", "scss", "sass", "less", "toml", "json5", "proto", "vue", "svelte", "astro", "cmake", "nix",
		"tcl", "awk", "diff", "java", "scala", "groovy", "ini", "php", "asm", "wat", "hcl", "graphql", "r", "sol", "bat", "tex", "vim", "fish", "cue",
		"gradle", "mk", "thrift", "rego", "xml":
		switch ext {
		case "gradle":
			return "groovy"
		case "mk":
			return "makefile"
		}
		return ext
	case "py", "pyi", "pyw", "pyx":
		return "python"
	case "js", "mjs", "cjs", "jsm":
		return "javascript"
	case "jsx", "tsx":
		return ext
	case "ts", "mts", "cts":
		return "typescript"
	case "rs":
		return "rust"
	case "c", "h":
		return "c"
	case "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ino", "ipp", "inl":
		return "cpp"
	case "cu", "cuh":
		return "cuda"
	case "mm":
		return "objectivec"
	case "cs", "csx":
		return "csharp"
	case "fs", "fsx", "fsi":
		return "fsharp"
	case "vb", "vbs", "bas":
		return "vb"
	case "kt", "kts":
		return "kotlin"
	case "rb", "gemspec", "rake":
		return "ruby"
	case "pl", "pm":
		return "perl"
	case "sh", "bash", "zsh", "ksh", "ebuild":
		return "sh"
	case "ps1", "psm1", "psd1":
		return "powershell"
	case "cmd":
		return "bat"
	case "hs", "lhs":
		return "haskell"
	case "ml", "mli":
		return "ocaml"
	case "ex", "exs":
		return "elixir"
	case "erl", "hrl":
		return "erlang"
	case "clj", "cljs", "cljc", "edn":
		return "clojure"
	case "lisp", "lsp", "el":
		return "lisp"
	case "scm", "ss", "rkt":
		return "scheme"
	case "jl":
		return "julia"
	case "f", "f77", "f90", "f95", "f03", "f08":
		return "fortran"
	case "pas", "dpr":
		return "pascal"
	case "adb", "ads":
		return "ada"
	case "s":
		return "asm"
	case "v", "sv", "svh":
		return "verilog"
	case "vhd", "vhdl":
		return "vhdl"
	case "yml", "yaml":
		return "yaml"
	case "cfg", "properties", "desktop", "service":
		return "ini"
	case "tf", "tfvars":
		return "hcl"
	case "gql":
		return "graphql"
	case "jsonc":
		return "json5"
	case "patch":
		return "diff"
	case "bib":
		return "bibtex"
	case "sty", "ltx":
		return "tex"
	case "bzl", "star":
		return "starlark"
	case "xsd", "xsl", "xslt", "wsdl", "plist", "csproj", "vcxproj", "fsproj", "resx", "xaml", "kml", "gpx", "rng", "svg", "pom":
		return "xml"
	case "dockerfile":
		return "dockerfile"
	case "makefile":
		return "makefile"
	case "php3", "php4", "php5", "phtml":
		return "php"
	case "asp", "aspx", "jsp", "cfm":
		return "html"
	}
	return ""
}

// isJSONP says whether a text is JSON handed to a function: name({…}); It is a
// program, not JSON. A comment may stand in front, as some servers put it there.
func isJSONP(text []byte) bool {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("/*")) {
		i := bytes.Index(text[:min(len(text), 1024)], []byte("*/"))
		if i < 0 {
			return false
		}
		text = bytes.TrimSpace(text[i+2:])
	}
	i := 0
	for i < len(text) && i < 256 && (isLetter(text[i]) || text[i] >= '0' && text[i] <= '9' || strings.IndexByte("_$.[]'\"", text[i]) >= 0) {
		i++
	}
	if i == 0 || i == len(text) || !isLetter(text[0]) && text[0] != '_' && text[0] != '$' {
		return false
	}
	rest := bytes.TrimLeft(text[i:], " \t")
	if bytes.HasPrefix(rest, []byte("&&")) { // typeof f === 'function' && f({…}) is one, this is half of it
		return false
	}
	return len(rest) > 1 && rest[0] == '(' && len(bytes.TrimLeft(rest[1:], " \t\r\n")) > 0 &&
		strings.IndexByte("{[\"", bytes.TrimLeft(rest[1:], " \t\r\n")[0]) >= 0 && bytes.HasSuffix(bytes.TrimRight(text, "; \t\r\n"), []byte(")"))
}
