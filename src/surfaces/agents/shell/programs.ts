/**
 * What programs do with their arguments: which of them start another program, run code from
 * elsewhere, or change the meaning of later commands. All other programs are assumed to do only
 * what their name says.
 */

/**
 * Programs that run the rest of their words as a command, with their options that take a value. An
 * unknown option makes the line unclear.
 */
export const wrappers: ReadonlyMap<string, WrapperRow> = new Map<string, WrapperRow>([
  ['sudo', { flags: 'AbEeHKknPSVv', valued: 'CDghpRrTtUu', environment: true }],
  ['doas', { flags: 'Lns', valued: 'Cu' }],
  ['env', { flags: 'i0v', valued: 'uC', environment: true }],
  ['nice', { flags: '', valued: 'n' }],
  ['ionice', { flags: 't', valued: 'cnPpu' }],
  ['nohup', { flags: '', valued: '' }],
  ['setsid', { flags: 'cfw', valued: '' }],
  ['stdbuf', { flags: '', valued: 'ioe' }],
  ['timeout', { flags: 'fpv', valued: 'ks', skip: 1 }],
  ['time', { flags: 'apqvV', valued: 'fo' }],
  ['command', { flags: 'p', valued: '' }],
  ['builtin', { flags: '', valued: '' }],
  ['exec', { flags: 'cl', valued: 'a' }],
  ['busybox', { flags: '', valued: '' }],
  ['caffeinate', { flags: 'dimsu', valued: 'tw' }],
  ['cross-env', { flags: '', valued: '', environment: true }],
  ['npx', { flags: 'y', valued: 'p' }],
  ['bunx', { flags: '', valued: 'p' }],
]);

/** Programs that run the words after this one as a command. */
export const runners: ReadonlyMap<string, string> = new Map([
  ['bundle', 'exec'],
  ['npm', 'exec'],
  ['pipenv', 'run'],
  ['pnpm', 'exec'],
  ['poetry', 'run'],
  ['yarn', 'exec'],
]);

/** How a wrapper's own words are distinguished from those of the command that it runs. */
export interface WrapperRow {
  /** One-letter options without a value. */
  readonly flags: string;
  /** One-letter options with a value. */
  readonly valued: string;
  /** Words of its own before the command. @default 0 */
  readonly skip?: number;
  /** Whether `NAME=value` may precede the command. @default false */
  readonly environment?: boolean;
}

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
  'mksh',
  'rbash',
  'fish',
]);

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
  ['pypy', /^-[a-zA-Z]*c|^-$/],
  ['tsx', /^-[ep]|^--(?:eval|print|require|import|loader)|^-$/],
  ['ts-node', /^-[ep]|^--(?:eval|print|require)|^-$/],
  ['julia', /^-[eEL]|^--(?:eval|print|load)|^-$/],
]);

/** Programs that run commands from a file, from their input or from a string. */
export const runsOthers: ReadonlySet<string> = new Set([
  'source',
  '.',
  'alias',
  'enable',
  'hash',
  'shopt',
  'bind',
  'complete',
  'compgen',
  'mapfile',
  'readarray',
  'fc',
  'history',
  'ldd',
  'su',
  'runuser',
  'setpriv',
  'pkexec',
  'sg',
  'flock',
  'taskset',
  'chrt',
  'prlimit',
  'setarch',
  'fakeroot',
  'unbuffer',
  'valgrind',
  'entr',
  'run-parts',
  'start-stop-daemon',
  'toybox',
  'pwsh',
  'nu',
  'xonsh',
  'sqlite3',
  'uv',
  'parallel',
  'watch',
  'script',
  'expect',
  'screen',
  'tmux',
  'at',
  'batch',
  'crontab',
  'chroot',
  'unshare',
  'nsenter',
  'systemd-run',
  'strace',
  'ltrace',
  'gdb',
  'ssh',
  'docker',
  'podman',
  'kubectl',
  'ed',
  'ex',
  'vi',
  'view',
  'rvim',
  'rview',
  'vim',
  'vimdiff',
  'nvim',
  'emacs',
  'awk',
  'gawk',
  'mawk',
  'nawk',
  'm4',
  'tclsh',
  // They have a command that starts a shell.
  'dc',
  'psql',
  'mysql',
  'mariadb',
  'gnuplot',
  // They prepare the environment of a command, or repeat it.
  'bwrap',
  'firejail',
  'proot',
  'numactl',
  'cpulimit',
  'xvfb-run',
  'dbus-run-session',
  'faketime',
  'proxychains',
  'proxychains4',
  'torsocks',
  'rlwrap',
  'sshpass',
  'direnv',
  'mise',
  'conda',
  'nix',
  'nix-shell',
  'hyperfine',
  'watchexec',
  'nodemon',
  'concurrently',
  // Whatever they open may be a program.
  'open',
  'xdg-open',
  'gtk-launch',
  'wine',
]);

/** Variables that change which program runs, or what a program does on its own. */
const decisiveNames = new RegExp(
  `^(?:${[
    'PATH|HOME|IFS|ENV|BASH_ENV|BASH_FUNC.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-9]|CDPATH',
    'LD_.*|DYLD_.*|GCONV_PATH|XDG_.*|GIT_.*|SSH_.*|TAR_OPTIONS|RIPGREP_CONFIG_PATH|ZDOTDIR',
    'MAKEFLAGS|RUSTC_.*|CARGO_.*|GOFLAGS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS',
    '.*PAGER|.*EDITOR|VISUAL|BROWSER|NODE_OPTIONS|NODE_PATH|PYTHON.*|PERL5.*|RUBY.*|LESS.*',
    'npm_config_.*|NPM_CONFIG_.*',
  ].join('|')})$`,
);

/** Whether setting this variable may change what later commands do. */
export function isDecisive(name: string): boolean {
  return decisiveNames.test(name);
}

/** Scripts of `sed` that only print, delete or replace. Others may run commands and write files. */
export const plainSed =
  /^(?:(?:\d+|\$)(?:,(?:\d+|\$))?)?[pdq=]$|^s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*$/;

/**
 * Options of other programs whose value is a command. GNU programs take shortened names as well.
 */
export const runningOptions: ReadonlyMap<string, RegExp> = new Map([
  ['tar', /^--(?:checkpoint-a|to-c|use-c|rsh-c|info-s|new-volume-s)|^-[A-Za-z]*[IF]/],
  ['split', /^--f/],
  ['sort', /^--co/],
  ['rg', /^--(?:pre|hostname-bin)/],
  ['ag', /^--pager/],
  ['man', /^-[A-Za-z]*[PHX]|^--(?:pager|html|browser)/],
  ['less', /^\+/],
  ['more', /^\+/],
  ['npm', /^-c|^--(?:call|node-options|script-shell)/],
  ['fd', /^-[A-Za-z]*[xX]|^--exec/],
  ['zip', /^-[A-Za-z]*TT|^--unz/],
  ['make', /^--ev|^-E|^(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)=/],
  ['gmake', /^--ev|^-E|^(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)=/],
  ['go', /^--?(?:tool)?exec|^--?vettool/],
  ['cargo', /^--config/],
  ['hg', /^--config/],
  ['ssh-keygen', /^-[A-Za-z]*D/],
  ['gcc', /^-wrapper|^-fplugin/],
  ['g++', /^-wrapper|^-fplugin/],
  ['cc', /^-wrapper|^-fplugin/],
]);

/** Builtins that set or evaluate the variables that they name. */
export const setters: ReadonlySet<string> = new Set(['read', 'printf', 'getopts', 'unset', 'let']);
/** Builtins that can give a variable a second name. */
export const renamers = /^(?:declare|typeset|local)$/;

/** Commands of `git`. Any other word may be an alias, which can be any command. */
export const gitCommands: ReadonlySet<string> = new Set(
  (
    'add am annotate apply archive bisect blame branch bundle cat-file check-ignore checkout ' +
    'cherry cherry-pick clean clone commit config count-objects describe diff diff-tree difftool ' +
    'fetch filter-branch for-each-ref format-patch fsck gc grep help init log ls-files ls-remote ' +
    'ls-tree maintenance merge merge-base mergetool mv name-rev notes prune pull push range-diff ' +
    'rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm ' +
    'send-email shortlog show show-branch show-ref sparse-checkout stash status submodule ' +
    'switch symbolic-ref tag update-index update-ref var verify-commit version whatchanged ' +
    'worktree write-tree'
  ).split(' '),
);
/** Commands of `git` that run commands from elsewhere. */
export const gitRunners = /^(?:bisect|difftool|filter-branch|mergetool|send-email|submodule)$/;
/** Options of `git` before its command that take the next word. */
export const gitValued: ReadonlySet<string> = new Set([
  '--attr-source',
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--exec-path',
]);
