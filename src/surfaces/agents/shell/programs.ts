/**
 * What programs do with their arguments: which of them start another program, run code from
 * elsewhere, or change the meaning of later commands. All other programs are assumed to do only
 * what their name says.
 */

/** Shells. They run the text after `-c`, a file, or their input. */
export const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'ash',
  'zsh',
  'csh',
  'tcsh',
  'yash',
  'ksh',
  'ksh93',
  'mksh',
  'oksh',
  'rbash',
  'fish',
]);

/** Programs that rules are about. A word of this name may be run by a program that is not known. */
const guarded: ReadonlySet<string> = new Set(
  (
    'git rm rmdir unlink shred dd mkfs truncate chmod chown chattr kill killall pkill sudo ' +
    'doas su mount umount systemctl launchctl shutdown reboot curl wget aria2c nc ncat netcat ' +
    'socat telnet ftp sftp scp rsync ssh gh aws gcloud az dig nslookup npm npx pnpm yarn bun ' +
    'bunx cargo gem twine docker podman kubectl terraform eval xargs busybox'
  ).split(' '),
);

/** Whether a word names a shell, a language or a program that rules are about. */
export function isGuarded(word: string): boolean {
  const name = word.startsWith('/') ? word.slice(word.lastIndexOf('/') + 1) : word;
  return guarded.has(name) || shells.has(name) || interpreters.has(languageOf(name));
}

/** The programs of GNU on macOS: `grm` is `rm`. */
export const ofGnu: ReadonlySet<string> = new Set(
  (
    'gcat gchmod gchown gcp gdd genv gfind ggrep ghead ginstall gkill gln gmkdir gmv gnice ' +
    'gnohup grm grmdir gsed gshred gsort gsplit gstdbuf gtail gtee gtimeout gtouch gtruncate ' +
    'gunlink gxargs'
  ).split(' '),
);

/** Without its version: `python` for `python3.12`. */
export function languageOf(program: string): string {
  return program.replace(/(?<![\d.])[\d.]+$/, '').replace(/^nodejs$/, 'node');
}

/** Programs that take any word, and run none. */
export const plainPrograms: ReadonlySet<string> = new Set(
  (
    'apk apt apt-get ant brew bat cc choco clang cmake cp dnf dotnet dpkg eslint exit export ' +
    'g++ gcc git-lfs go gradle gradlew info install jest javac ln make gmake man mkdir mocha ' +
    'mv mvn mvnw npm-check-updates pacman pip pip3 port prettier pytest rake rubocop ruff set ' +
    'tar tee tldr touch tsc unset vitest which yum zip zypper declare typeset local readonly ' +
    'read let getopts alias unalias unzip gzip gunzip bzip2 xz jj hg svn less more ps pgrep'
  ).split(' '),
);

/** Languages. The text after these options is code. Without a file, they run their input. */
export const interpreters: ReadonlyMap<string, RegExp> = new Map([
  ['python', /^-[a-zA-Z]*c|^-$/],
  ['node', /^-[a-zA-Z]*[ep]|^--(?:eval|print|require|import|(?:experimental-)?loader)|^-r|^-$/],
  ['deno', /^eval$|^repl$|^-$/],
  ['bun', /^-[ep]|^--(?:eval|print|preload)|^repl$|^-$/],
  ['perl', /^-[a-zA-Z0-9]*[eEMm]|^-$/],
  ['ruby', /^-[a-zA-Z0-9]*[er]|^-$/],
  ['php', /^-[arBRFE]|^-$/],
  ['lua', /^-[el]|^-$/],
  ['osascript', /^-/],
  ['Rscript', /^-e/],
  ['ipython', /^-[a-zA-Z]*c|^-$/],
  ['jython', /^-[a-zA-Z]*c|^-$/],
  ['micropython', /^-[a-zA-Z]*c|^-$/],
  ['jruby', /^-[a-zA-Z0-9]*[er]|^-$/],
  ['pypy', /^-[a-zA-Z]*c|^-$/],
  ['tsx', /^-[ep]|^--(?:eval|print|require|import|loader)|^-$/],
  ['ts-node', /^-[ep]|^--(?:eval|print|require)|^-$/],
  ['julia', /^-[eEL]|^--(?:eval|print|load)|^-$/],
  ['luajit', /^-[ejl]|^-$/],
  ['bb', /^-[ef]|^--eval|^-$/],
  ['elixir', /^-[er]$|^--(?:eval|rpc-eval|erl)|^-$/],
  ['erl', /^-(?:eval|s|run|boot)/],
  ['ghc', /^-e/],
  ['groovy', /^-e/],
  ['guile', /^-[ce]|^-$/],
  ['octave', /^--eval/],
  ['R', /^-e/],
  ['racket', /^-[ef]|^--eval/],
  ['raku', /^-[eM]|^-$/],
  ['sbcl', /^--(?:eval|load)/],
  ['scala', /^-e/],
]);

// A bracket has one reading only: a second one in each of many would take exponential time.
const sedBracket = String.raw`\[(?:\^[^\\\/\n]|[^^\\\/\n])[^\]\\\/\n]*\]`;
const sedAddress = String.raw`(?:\d+|\$|\/(?:[^\\\/\n[]|\\.|${sedBracket})*\/I?)`;
const sedText = String.raw`[iac](?:\\\n?)?[^\\\n]*`;
const sedCommand =
  String.raw`(?:${sedAddress}(?:,(?:${sedAddress}|\+\d+))?)?!?(?:[pdq=]|${sedText})|` +
  String.raw`s([/|#,@~%:!_+])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*`;
const plainSed = new RegExp(`^(?:${sedCommand})$`);

/** Whether a script of `sed` only prints, deletes or replaces. Others may run or write something. */
export function isPlainSed(script: string): boolean {
  if (plainSed.test(script)) return true;
  // Several commands, each with nothing in it that could hide a semicolon.
  return (
    /^[\w$,;/.*^ +!=-]*$/.test(script) && script.split(/; */).every((one) => plainSed.test(one))
  );
}

/**
 * Options of other programs whose value is a command. GNU programs take shortened names as well.
 */
export const runningOptions: ReadonlyMap<string, RegExp> = new Map([
  ['tar', /^--(?:checkpoint-a|to-c|use-c|rsh-c|info-s|new-volume-s)|^-[A-Za-z]*[IF]/],
  ['split', /^--f/],
  ['sort', /^--co/],
  ['rg', /^--(?:pre|hostname-bin)/],
  ['ag', /^--pager/],
  ['ack', /^--pager/],
  ...'clj clojure coffee crystal hy iex janet kotlin kotlinc nim ocaml qjs runghc scala-cli swift'
    .split(' ')
    .map((name): [string, RegExp] => [name, /^-e|^--(?:eval|execute)|^(?:e|eval|repl)$|^-$/]),
  ['rails', /^(?:runner|r)$/],
  ['php', /^--execute|^tinker$/],
  ['mix', /^-e$|^--eval|^eval$/],
  ['mvn', /^exec:exec|^-Dexec\.(?:executable|args)/],
  ['mvnw', /^exec:exec|^-Dexec\.(?:executable|args)/],
  ['gradle', /^-I|^--init/],
  ['gradlew', /^-I|^--init/],
  ['man', /^-[A-Za-z]*[PHXC]|^--(?:pager|html|browser|config)/],
  ['rsync', /^-[A-Za-z]*e|^--rs/],
  ['scp', /^-[A-Za-z0-9]*[SDoF]/],
  ['sftp', /^-[A-Za-z0-9]*[SDobF]/],
  ['sshfs', /^-[A-Za-z]*[oF]/],
  ['nc', /^-[A-Za-z]*[ec]/],
  ['ncat', /^-[A-Za-z]*[ec]|^--(?:exec|sh-exec|lua-exec)/],
  ['netcat', /^-[A-Za-z]*[ec]/],
  ['socat', /(?:EXEC|SYSTEM|SHELL):/i],
  ['openssl', /^-(?:engine|provider|provider-path|config)$/],
  ['curl', /^-[A-Za-z]*K|^--(?:config|engine)/],
  ['wget', /^--(?:use-askpass|config|execute)|^-[A-Za-z]*e/],
  ['print', /^-[A-Za-z]*[^-nrlaoicNDA]/],
  [
    'set',
    /^[-+](?!-$|[euxfnvahbmC]+$|[euxfnvahbmC]*o$)|^(?!errexit$|nounset$|pipefail$|xtrace$|noclobber$|verbose$)[a-z]/i,
  ],
  ['less', /^\+/],
  ['more', /^\+/],
  ['npm', /^-c|^--(?:call|node-options|script-shell)/],
  ['pnpm', /^-c$|^-[A-Za-z]*c$|^--(?:shell-mode|node-options|script-shell)/],
  ['cmake', /^-P|^-D?CMAKE_\w*(?:COMPILER|LAUNCHER|RULE|TOOLCHAIN|COMMAND|PROGRAM)/],
  ['zip', /^-[A-Za-z]*TT|^--unz/],
  ['make', /^-$|^-f-$|^\/dev\/|=-$|^--ev|^-E|^(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)=/],
  ['gmake', /^-$|^-f-$|^\/dev\/|=-$|^--ev|^-E|^(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)=/],
  ['go', /^--?(?:tool)?exec|^--?vettool/],
  ['cargo', /^--config|^(?:watch|make|flamegraph)$/],
  ['hg', /^--config/],
  ['ssh-keygen', /^-[A-Za-z]*D/],
  ...['c++', 'cc', 'clang', 'clang++', 'g++', 'gcc'].map((name): [string, RegExp] => [
    name,
    /^-(?:wrapper|B|-?specs|load)|^@|^-.*plugin|^-fuse-ld=.*\//,
  ]),
  ['ld', /^-.*plugin/],
]);

/** Builtins that set or evaluate the variables that they name. */
export const setters: ReadonlySet<string> = new Set(['read', 'printf', 'getopts', 'unset', 'let']);
/** Builtins that can give a variable a second name. */
export const renamers = /^(?:declare|typeset|local)$/;

// Programs that run commands, or do as much harm, when somebody writes to them: pagers, editors,
// debuggers, monitors, file managers, prompts of languages and databases.

const programs: ReadonlySet<string> = new Set(
  // Pagers, manuals and browsers.
  (
    'bat batcat bzless elinks info less links lynx lzless man more most pg pinfo w3m xzless ' +
    'zless zmore ' +
    // Editors. More of them are in `runsOthers`.
    'ed emacs emacsclient ex hx jed joe kak mcedit micro nano ne nvi nvim pico rnano rvim vi ' +
    'view vim vimdiff ' +
    // Monitors, file managers and other screens.
    'atop bpytop btop fzf gitui glances gotop htop iotop k9s lazydocker lazygit lf mc ncdu ' +
    'nmon nnn powertop ranger screen sk tig tmux top vifm watch yazi zellij ' +
    // Debuggers.
    'byebug cgdb cuda-gdb dlv gdb ipdb jdb kdb lldb mdb pdb phpdbg pudb rdbg rdebug rr ' +
    // Languages.
    'amm bpython clisp clj clojure dc erl evcxr ghci gnuplot gore gosh groovysh gp guile iex ' +
    'irb jshell jupyter kotlin maxima node-repl ocaml octave pry psysh ptpython R racket ' +
    'rlwrap sage sbcl scala spark-shell pyspark swift tclsh utop wish xonsh ' +
    // Databases.
    'beeline bq clickhouse clickhouse-client cqlsh cypher-shell db2 duckdb hive influx iredis ' +
    'isql litecli mariadb mongo mongosh mycli mysql osql pgcli psql redis-cli snowsql ' +
    'spark-sql sqlcmd sqlite3 sqlplus trino tsql usql ' +
    // Other machines.
    'adb cu ftp lftp minicom mosh picocom sftp smbclient ssh telnet'
  ).split(' '),
);

/** Words of other programs that open such a prompt, or an editor. */
const prompts: ReadonlyMap<string, RegExp> = new Map([
  ['python', /^-[A-Za-z]*i|^(?:shell|shell_plus|dbshell|pdb|ipdb|pudb|code)$/],
  ['node', /^-[A-Za-z]*i|^--interactive$|^inspect$/],
  ['perl', /^-[A-Za-z]*d/],
  ['php', /^-[A-Za-z]*a|^--interactive$|^tinker$/],
  ['ruby', /^-[A-Za-z]*d/],
  ['lua', /^-i/],
  ['rails', /^(?:c|console|db|dbconsole)$/],
  ['rake', /console$/],
  ['deno', /^repl$/],
  ['bun', /^repl$/],
  ['lein', /^repl$/],
  ['sbt', /^(?:shell|console)$/],
  ['stack', /^(?:ghci|repl)$/],
  ['cabal', /^repl$/],
  ['mix', /^(?:iex)$/],
  ['systemctl', /^edit$/],
  ['npm', /^(?:edit|explore|config)$/],
  ['gh', /^(?:edit|-e|--editor)$/],
]);

/** Programs that open a prompt if they have no words. */
const alone: ReadonlySet<string> = new Set(['openssl', 'sbt', 'gradle', 'ghc', 'nslookup', 'dig']);

/** When commands of git open an editor or a prompt, by their words, and what prevents it. */
const edits: ReadonlyMap<string, readonly [when: RegExp, unless?: RegExp]> = new Map([
  ['add', [/ (?:-[A-Za-z]*[pie]|--(?:pa|int|ed)\S*)(?: |$)/]],
  ['branch', [/ --edit/]],
  ['checkout', [/ (?:-p|--pa\S*)(?: |$)/]],
  ['clean', [/ (?:-[A-Za-z]*i|--int)/]],
  ['commit', [/^/, / (?:-[A-Za-z]*[mFCt]|--(?:me|fi|reuse|no-e|te|dry))/]],
  ['config', [/ (?:-e|--ed\S*|edit)(?: |$)/]],
  ['merge', [/^/, / (?:-[A-Za-z]*[mF]|--(?:no-e|ff-only|sq|ab|q|no-c))/]],
  ['notes', [/ (?:add|append|edit)/, / (?:-[A-Za-z]*[mFC])/]],
  ['rebase', [/ (?:-[A-Za-z]*i|--(?:int|edit))/]],
  ['replace', [/ (?:-e|--ed)/]],
  ['reset', [/ (?:-p|--pa\S*)(?: |$)/]],
  ['restore', [/ (?:-p|--pa\S*)(?: |$)/]],
  ['revert', [/^/, / (?:-n|--(?:no-e|no-c|ab|q|sk))/]],
  ['stash', [/ (?:-p|--pa\S*)(?: |$)/]],
  ['tag', [/ -[A-Za-z]*[as]/, / (?:-[A-Za-z]*[mF]|--(?:me|fi))/]],
]);

/** Whether somebody who can write to the program could make it run a command. */
export function isFed(program: string, words: readonly string[]): boolean {
  if (words.length === 1 && /^--(?:version|help)$/.test(words[0] as string)) return false;
  if (programs.has(program) || (words.length === 0 && alone.has(program))) return true;
  if (program === 'git') {
    const [when, unless] = edits.get(words[0] ?? '') ?? [];
    const text = words.join(' ');
    return when?.test(text) === true && unless?.test(text) !== true;
  }
  const prompt = prompts.get(languageOf(program));
  return prompt !== undefined && words.some((word) => prompt.test(word));
}

/** The tables, for tests. */
export const fedTables = { programs, prompts, alone, edits };
