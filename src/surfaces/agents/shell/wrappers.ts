/**
 * Programs that run the rest of their words as a command, or some of them, by their manuals.
 * All other programs that may run a command are in `runsOthers`.
 */

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
  ['pnpx', { flags: '', valued: '' }],
  ['xargs', { flags: '0prtx', valued: 'adEIiLnPs' }],
  // Words of zsh before a command.
  ['noglob', { flags: '', valued: '' }],
  ['nocorrect', { flags: '', valued: '' }],
  ['repeat', { flags: '', valued: '', skip: 1 }],
  ['{', { flags: '', valued: '' }],
  // More of them, for which an option makes the line unclear.
  ...(
    'chronic choom dbus-run-session dumb-init eatmydata fakechroot fakeroot fakeroot-ng ' +
    'libeatmydata setpriv ssh-agent tini torify torsocks unbuffer usewithtor valgrind winpty ' +
    'i386 linux32 linux64 x86_64 uname26'
  )
    .split(' ')
    .map((name): [string, WrapperRow] => [name, { flags: '', valued: '' }]),
]);

/** Programs that run the words after one of these words as a command, with options of their own. */
export interface RunnerRow {
  /** The words after which the command follows: `exec`. */
  readonly words: readonly string[];
  /** Options that take the next word, also in their long form. */
  readonly valued: readonly string[];
}

const run = (words: string, valued = ''): RunnerRow => ({
  words: words.split(' '),
  valued: valued.split(' '),
});

export const runners: ReadonlyMap<string, RunnerRow> = new Map<string, RunnerRow>([
  ['bundle', run('exec', '--gemfile')],
  ['jobs', run('-x')],
  ['cmake', run('-E')],
  ['npm', run('exec exe x', '-w --workspace -p --package --prefix -C')],
  ['pnpm', run('exec dlx', '-C --dir -F --filter --package')],
  ['yarn', run('exec dlx', '--cwd -p --package')],
  ['bun', run('x run exec', '--cwd -p --package')],
  ['pipenv', run('run')],
  ['poetry', run('run', '-C --directory -P --project')],
  ['pdm', run('run', '-p --project')],
  ['hatch', run('run', '-e --env -p --project')],
  ['rye', run('run')],
  ['pixi', run('run exec', '-e --environment --manifest-path')],
  ['uv', run('run', '-p --python --group --extra --directory --project --package')],
]);

/** Options of runners that fetch packages or read code from elsewhere. */
export const fetchingOptions =
  /^(?:tool$|--with|--from|--index|--default-index|--env-file|--script|-s$)/;

/** Commands of programs, of which the rest is a command, code or a script of unknown content. */
export const runsOthers: ReadonlySet<string> = new Set(
  // Builtins of shells.
  (
    '. alias bind compgen complete enable fc hash history mapfile readarray shopt source ' +
    // Programs that take a user, a place or limits for a command.
    'aa-exec bwrap capsh catchsegv cgexec chpst chroot chrt coresched cpulimit cset ' +
    'dbus-launch distrobox envdir envuidgid firejail flatpak flock gosu guix incus ip jexec ' +
    'lockfile lxc machinectl minijail0 multipass newgrp nq nsenter numactl pkexec prlimit ' +
    'proot pseudo run-one runcon runuser s6-applyuidgid s6-envdir s6-setuidgid s6-softlimit ' +
    'sandbox-exec setarch setlock setuidgid sg snap softlimit start-stop-daemon su su-exec ' +
    'systemd-cat systemd-inhibit systemd-nspawn systemd-run taskset toolbox toybox uclampset ' +
    'unshare vagrant gpg-agent runsv svlogd daemon daemonize dtach abduco gpgconf arm armv7l ' +
    'i486 i586 i686 ia64 mips mips32 mips64 parisc parisc32 parisc64 ppc ppc32 ppc64 ppc64le ' +
    's390 s390x sparc sparc32 sparc64 ' +
    // Tracers, profilers and debuggers.
    'bpftrace dtrace dtruss gdb heaptrack instruments kcov ktrace lldb ltrace ' +
    'memusage ncu nsys operf perf poop rr samply sotruss strace sysdig trace-cmd truss ' +
    'uftrace vtune xctrace flamegraph hyperfine ' +
    // Programs that watch, repeat, time or combine commands.
    'anacron at batch concurrently crontab datefudge entr expect autoexpect faketime faketty ' +
    'foreman gtime honcho ifne incrontab inotifyd lckdo mispipe mpiexec mpirun nodemon ' +
    'npm-run-all onchange overmind parallel pee procodile reflex retry rlwrap run-p run-parts ' +
    'run-s sbatch scl screen script sem sshpass srun supervisord timelimit tmux trickle ' +
    'ts-node-dev tsocks tsp vidir vipe viddy watch watchexec watchman with-readline xjobs ' +
    'xvfb-run zellij zrun zx start-server-and-test chokidar ' +
    // Programs that prepare an environment, and what is chosen in it.
    'asdf aws-vault cabal chamber conda cross-env-shell dapper devbox direnv doppler dotenv ' +
    'dotenvx dune earthly env-cmd envchain envconsul esbuild-runner fnm goenv hivemind ' +
    'infisical jenv lerna mamba micromamba mise nix nix-shell nodenv nvm nx op opam pipx ' +
    'proxychains proxychains4 pyenv rbenv rtx rush rushx rvm scriptreplay sops spring stack ' +
    'teller uvx volta wireit wsrun direnv-exec ' +
    // Machines and containers.
    'docker heroku kubectl lima limactl nerdctl oc podman ssh autossh mosh wsl wine wine64 ' +
    'cmd cmd.exe powershell powershell.exe pwsh ' +
    // Languages whose scripts may do anything, and shells that are read otherwise.
    'm4 elvish es murex nu osh posh rc tclsh xonsh ysh sqlite3 psql mysql ' +
    'mariadb gnuplot dc ldd gtk-launch open xdg-open ' +
    // Editors, which have commands of their own.
    'ed emacs emacsclient ex nvim rview rvim vi view vim vimdiff visudo sudoedit'
  ).split(' '),
);

/** The dynamic loader, called as a program. */
export const loader = /^ld(?:-linux.*|-musl.*|64|32)?(?:\.so.*|-\d.*\.so)$/;
