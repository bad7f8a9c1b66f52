/**
 * Variables that change which program runs, what code a program loads, or where it connects to.
 * They are taken from the manuals of shells, loaders, languages, build tools and package managers.
 */
import type { SyntaxNode } from 'unbash';

const exact: ReadonlySet<string> = new Set(
  // Shells and the loader.
  (
    'BROWSER CDPATH ENV EXECIGNORE FPATH GCONV_PATH GLOBIGNORE HISTFILE HOME IFS LOCPATH ' +
    'FCEDIT MAGIC PATH NLSPATH NULLCMD POSTEDIT PROMPT READNULLCMD RPROMPT RPS1 SHELL SPROMPT ' +
    'TERMCAP VISUAL cdpath fpath manpath module_path path ' +
    // Compilers and build tools.
    'AR AS CC CPP CXX F77 FC GCCGO HOSTCC HOSTCXX LD MAKE MAKEFILES MFLAGS NM OBJCOPY RANLIB ' +
    'STRIP CFLAGS CPPFLAGS CXXFLAGS FFLAGS LDFLAGS LDLIBS COMPILER_PATH CPATH GCC_EXEC_PREFIX ' +
    'LIBRARY_PATH MAKEFLAGS GNUMAKEFLAGS RUSTFLAGS ' +
    // Languages. `GOOS`, `GOARCH`, `NODE_ENV` and the like are harmless.
    'AWKLIBPATH AWKPATH CAML_LD_LIBRARY_PATH CLASSPATH GHCRTS GOAUTH GOENV GOFLAGS GOINSECURE ' +
    'GOCACHEPROG GONOSUMCHECK GONOSUMDB GOPATH GOPROXY GOROOT GOSUMDB GOTOOLCHAIN GOTOOLDIR ' +
    'GOVCS GOWORK ' +
    'JAVA_HOME MAVEN_ARGS MAVEN_HOME NODE_EXTRA_CA_CERTS NODE_PATH ' +
    'NODE_TLS_REJECT_UNAUTHORIZED PHPRC PHP_INI_SCAN_DIR R_ENVIRON R_ENVIRON_USER R_HOME ' +
    'R_LIBS R_LIBS_SITE R_LIBS_USER R_PROFILE R_PROFILE_USER TCLLIBPATH VIRTUAL_ENV ' +
    // Editors and other programs.
    'AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CURL_CA_BUNDLE CURL_HOME EMACSLOADPATH ' +
    'AUTOCONF AWS_ENDPOINT_URL BAZEL_SH CHROME_BIN CHROME_PATH CONDARC CVS_RSH GIO_EXTRA_MODULES ' +
    'GLIBC_TUNABLES GVIMINIT HG HGMERGE KUBECTL_EXTERNAL_DIFF LEFTHOOK_BIN MIX_EXS NVCC ' +
    'PGSYSCONFDIR SSLKEYLOGFILE ' +
    'SUDO_ASKPASS SVN_SSH SYSTEM_WGETRC TERRAGRUNT_TFPATH TOX_CONFIG_FILE VIM ' +
    'EXINIT GIO_MODULE_DIR GNUPGHOME GTK_MODULES GTK_PATH HGRCPATH HOSTALIASES KUBECONFIG ' +
    'LOCALDOMAIN MANOPT MYVIMRC NETRC OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES ' +
    'QT_PLUGIN_PATH PSQLRC REQUESTS_CA_BUNDLE RIPGREP_CONFIG_PATH RSYNC_RSH SSL_CERT_DIR ' +
    'SSL_CERT_FILE TAPE TERMINFO TERMINFO_DIRS VIMINIT VIMRUNTIME WGETRC'
  ).split(' '),
);

/** All variables that begin with these words. */
const prefixes: readonly string[] = (
  'ANSIBLE_ ANT_ BASH_ BUNDLE BUN_ CABAL_ CARGO CCACHE_ CGO_ CMAKE_ COMPOSER COMPlus_ CONDA_ ' +
  'CORECLR_ COREPACK_ COR_ CPAN DENO_ DOCKER_ DOTNET_ DYLD_ ELIXIR_ ERL_ GEM_ GHC_ GIT_ ' +
  'GRADLE_ GST_PLUGIN GUILE_LOAD HELM_ LIBMYSQL_ MAGICK_ RSYNC_ ' +
  'JULIA_ LD_ LEIN_ LESS LUA_ MSBUILD NIX_ NODE_OPTIONS NODE_REPL_ ' +
  'NPM_ OCAML OPAM PERL PIP PKG_CONFIG PNPM_ POETRY_ PROMPT_ PYTEST_ PYTHON RUBY RUSTC ' +
  'RUSTDOC RUSTUP_ SCCACHE_ SQLITE_ SSH_ STACK_ SYSTEMD_ TF_CLI_ TS_NODE_ UV_ XDG_ YARN_ ZDOT ' +
  'ZSH npm_'
).split(' ');

/** Options of a program, programs that others start, mirrors and proxies. */
const endings = new RegExp(
  '(?:OPTS|OPTIONS|PAGER|EDITOR|_COMMAND|_LAUNCHER|_MIRROR|_PRELOAD|_PROXY|_proxy|_WRAPPER|' +
    '(?:BINARY|EXECUTABLE|NODEJS)(?:_PATH)?)$',
);

/** Arrays of zsh that define commands. In other shells, they are variables like others. */
const zshArrays: ReadonlySet<string> = new Set(
  (
    'aliases builtins chpwd_functions commands dis_aliases dis_functions dis_galiases ' +
    'dis_saliases functions galiases mapfile modules nameddirs options periodic_functions ' +
    'precmd_functions preexec_functions reswords saliases zshexit_functions'
  ).split(' '),
);

/** Whether setting this variable may change what later commands do. */
export function isDecisive(name: string): boolean {
  return (
    exact.has(name) ||
    /^PS\d$/.test(name) ||
    prefixes.some((prefix) => name.startsWith(prefix)) ||
    endings.test(name)
  );
}

/** Whether zsh takes this for the definition of a command: `functions[ls]='git push'`. */
export function isZshArray(name: string): boolean {
  return zshArrays.has(name);
}

/** Variables that shells set on their own. */
const special: ReadonlySet<string> = new Set(
  (
    'argv funcstack histchars mailpath match mbegin mend pipestatus prompt psvar reply signals ' +
    'status watch BASHPID COLUMNS DIRSTACK EPOCHREALTIME EPOCHSECONDS ERRNO FUNCNAME GROUPS ' +
    'HISTCMD LINENO LINES MATCH MBEGIN MEND OLDPWD OPTARG OPTIND PIPESTATUS PPID PWD RANDOM ' +
    'REPLY SECONDS SHLVL SRANDOM TTYIDLE UID EUID GID EGID USERNAME'
  ).split(' '),
);

/** Whether a shell may give this variable another value at any time. */
export function isSpecial(name: string): boolean {
  return special.has(name);
}

const plain: ReadonlySet<string> = new Set(
  (
    'BASH_VERSION CI EDITOR GOOS GOARCH GOPATH GOROOT HOME HOSTNAME JAVA_HOME LANG LINENO ' +
    'LOGNAME NODE_ENV NVM_DIR OLDPWD OSTYPE PATH PIPESTATUS PPID PWD PYTHONPATH RANDOM SECONDS ' +
    'SHELL ' +
    'SHLVL TERM TMPDIR UID USER VIRTUAL_ENV ZSH_VERSION pipestatus'
  ).split(' '),
);

/** Whether a variable has no secret in it, by its name. */
export function isPlainVariable(name: string): boolean {
  return plain.has(name);
}

const settingBuiltins: ReadonlySet<string> = new Set(
  (
    'declare export float getopts integer let local mapfile private read readarray readonly set ' +
    'typeset unset vared wait'
  ).split(' '),
);

/** The variables that a builtin may set, by its words. */
export function namesSetBy(program: string, words: readonly string[]): readonly string[] {
  const prints = program === 'printf' && /^-[A-Za-z]*v/.test(words[0] ?? '');
  if (!prints && !settingBuiltins.has(program)) return [];
  return words.flatMap((word) => word.match(/[A-Za-z_]\w*/g) ?? []);
}

/**
 * Calculations of a line. bash runs what is in the index of a variable, even if the variable has
 * got it as a text: after `read x`, `((x))` runs what was read.
 */
const comparison = /^-(?:eq|ne|lt|le|gt|ge)$/;
const fillers = /^(?:getopts|mapfile|printf|read|readarray|vared|wait)$/;
const declarers = /^(?:declare|export|integer|local|readonly|typeset)$/;

export class Calculations {
  readonly #calculated = new Set<string>();
  readonly #doubtful = new Set<string>();
  readonly #set: Set<string>;
  readonly #unclear: (why: string) => void;

  /** @param set Names of variables that the line sets */
  constructor(set: Set<string>, unclear: (why: string) => void) {
    this.#set = set;
    this.#unclear = unclear;
  }

  /** Variables that may hold code and are calculated with. */
  get uncertain(): readonly string[] {
    return [...this.#calculated].filter((name) => this.#doubtful.has(name));
  }

  visit(node: SyntaxNode): void {
    switch (node.type) {
      case 'ArithmeticWord': {
        const { value, parts = [] } = node;
        for (const name of this.#calculate(value)) this.#set.add(name);
        if (value.includes('[') || parts.some(({ type }) => type.endsWith('Quoted')))
          this.#unclear('a calculation that is known only at run time');
        break;
      }
      case 'TestBinary':
        if (comparison.test(node.operator)) {
          this.#calculate(node.left.value);
          this.#calculate(node.right.value);
        }
        break;
      case 'Assignment': {
        const { name, index, value } = node;
        this.#set.add(name);
        if (index !== undefined) this.#calculate(index.text);
        if (value.type === 'ArrayValue') {
          this.#doubtful.add(name);
          for (const { text } of value.elements)
            this.#calculate(/^\[([^\]]*)\]/.exec(text)?.[1] ?? '');
        } else if (!/^\d*$/.test(value.text)) this.#doubtful.add(name);
      }
    }
  }

  command(program: string, words: readonly string[]): void {
    if (program === 'let') for (const word of words) this.#calculate(word);
    if (fillers.test(program))
      for (const word of words) for (const name of namesIn(word)) this.#doubtful.add(name);
    if (!declarers.test(program)) return;
    const isInteger = program === 'integer' || words.some((word) => /^-[A-Za-z]*i/.test(word));
    for (const word of words) {
      const [, name, value] = /^(\w+)\+?=(.*)$/s.exec(word) ?? [];
      if (name !== undefined && !/^\d*$/.test(value ?? '')) this.#doubtful.add(name);
      if (isInteger) this.#calculate(word);
    }
  }

  #calculate(text: string): readonly string[] {
    const names = namesIn(text);
    for (const name of names) this.#calculated.add(name);
    return names;
  }
}

function namesIn(text: string): readonly string[] {
  return text.match(/[A-Za-z_]\w*/g) ?? [];
}
