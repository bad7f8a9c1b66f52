/** Options of programs that run commands, and the languages that run code. */
import * as unbash from 'unbash';
import { describe, expect, test } from 'vitest';
import { interpreters, runningOptions } from '../../../../src/surfaces/agents/shell/programs.ts';
import { shellFacts } from '../../../../src/surfaces/agents/shell/read-line.ts';

const place = { cwd: '/work/app', project: '/work/app', home: '/home/ann' };
const why = (line: string) => shellFacts(line, place, unbash).why;

/** For each program, words that run a command or code, and words that do not. */
type Cases = Readonly<Record<string, readonly [runs: string, not: string]>>;

const compiler: Cases[string] = [
  '-wrapper x,y a.c; -Bx a.c; -specs=x a.c; --specs=x a.c; @x; -fplugin=x a.c; -fuse-ld=/tmp/ld',
  '-O2 -o a a.c; -fuse-ld=lld a.c',
];
const build: Cases[string] = ['-I x.gradle; --init-script x', 'test; -q build'];
const maven: Cases[string] = ['exec:exec; -Dexec.executable=x', '-q test'];
const make: Cases[string] = [
  '-f -; -f-; -f /dev/stdin; --eval=x; -E x; SHELL=x; MAKEFLAGS=x',
  'all; -j 4 test; -f other.mk',
];
const code: Cases[string] = ['-e x; --eval x; eval x; repl; -', 'x.src; build'];

const options: Cases = {
  tar: [
    '--checkpoint-action=exec=x -cf a b; --to-command=x -xf a; --use-compress-program=x; ' +
      '--rsh-command=x; --info-script=x; --new-volume-script=x; -I x -cf a b; -F x -cf a b',
    '-czf a.tgz src; -tf a.tgz',
  ],
  split: ['--filter=x a', '-l 10 a'],
  sort: ['--compress-program=x a', '-o b a; -rn a'],
  rg: ['--pre x a; --hostname-bin=x a', '-n a src'],
  ag: ['--pager x a', 'a src'],
  ack: ['--pager=x a', 'a src'],
  ...Object.fromEntries(
    'clj clojure coffee crystal hy iex janet kotlin kotlinc nim ocaml qjs runghc scala-cli swift'
      .split(' ')
      .map((program) => [program, code]),
  ),
  rails: ['runner x; r x', 'db:migrate; test'],
  php: ['--execute x; artisan tinker', 'artisan migrate; x.php'],
  mix: ['-e x; --eval x; eval x', 'test; deps.get'],
  mvn: maven,
  mvnw: maven,
  gradle: build,
  gradlew: build,
  man: ['-P x ls; -Hx ls; -X ls; -C x ls; --pager=x ls; --html=x ls', 'ls; 3 printf'],
  rsync: ['-e x a b; -ae x a b; --rsh=x a b', '-av a b'],
  scp: ['-S x a b; -D x a b; -o ProxyCommand=x a b; -F x a b', '-P 22 a b'],
  sftp: ['-S x h; -D x h; -o ProxyCommand=x h; -b x h; -F x h', '-P 22 h'],
  sshfs: ['-o ssh_command=x h: d; -F x h: d', '-p 22 h: d'],
  nc: ['-e x h 1; -lc x', '-z h 1'],
  ncat: ['-e x h 1; -c x h 1; --exec x h; --sh-exec x h; --lua-exec x h', '-z h 1'],
  netcat: ['-e x h 1; -c x h 1', '-z h 1'],
  socat: ['- EXEC:x; - system:x; TCP:h:1 SHELL:x', '- TCP:h:1'],
  openssl: ['x -engine y; x -provider y; x -provider-path y; x -config y', 'version; dgst a'],
  curl: ['-K x; -sK x; --config x; --engine x h', '-s h'],
  wget: ['--use-askpass=x h; --config=x h; --execute x h; -e x h', '-q h'],
  print: ['-P x; -z x; -s x', '-n x; -l a b'],
  set: ['-o promptsubst; -k; extendedglob', '-euo pipefail; -x; --'],
  less: ['"+!x" a', 'a; -R a'],
  more: ['+x a', 'a'],
  npm: ['-c x; --call x; --node-options=x test; --script-shell=x test', 'test; run build'],
  pnpm: ['-c x; --shell-mode x; --node-options=x test; --script-shell=x test', 'test; -r build'],
  cmake: ['-P x.cmake; -DCMAKE_C_COMPILER=x .; -DCMAKE_TOOLCHAIN_FILE=x .', '-B build .'],
  zip: ['-TT x a b; -T -TT x a b; --unzip-command=x a b', '-r a.zip b'],
  make,
  gmake: make,
  go: ['test -exec x .; build -toolexec x; vet -vettool=x', 'test ./...; build'],
  cargo: ['--config x build; watch -x test; flamegraph; make x', 'test; build --release'],
  hg: ['--config alias.x=!y x', 'status; log'],
  'ssh-keygen': ['-D x', '-lf a'],
  'c++': compiler,
  cc: compiler,
  clang: compiler,
  'clang++': compiler,
  'g++': compiler,
  gcc: compiler,
  ld: ['-plugin x a.o; --plugin=x a.o', '-o a a.o'],
};

const python: Cases[string] = ['-c x; -Ic x; -', 'x.py; -m pytest; --version'];
const ruby: Cases[string] = ['-e x; -ne x y; -r x y.rb; -', 'x.rb; -w x.rb'];

const languages: Cases = {
  python,
  node: [
    '-e x; -p x; -pe x; --eval x; --print x; -r x y.js; --require x y.js; --import x y.js; ' +
      '--loader x y.js; --experimental-loader x y.js; -',
    'x.js; --test; --version',
  ],
  deno: ['eval x; repl; -', 'run x.ts; test'],
  bun: ['-e x; -p x; --eval x; --print x; --preload x y; repl; -', 'test; x.ts'],
  perl: ['-e x; -ne x y; -E x; -Mx y.pl; -mx y.pl; -', 'x.pl; -w x.pl'],
  ruby,
  php: ['-r x; -a; -B x; -R x; -F x; -E x; -', 'x.php; -l x.php'],
  lua: ['-e x; -l x y.lua; -', 'x.lua'],
  osascript: ['-e x; -l JavaScript x', 'x.scpt'],
  Rscript: ['-e x', 'x.R'],
  ipython: python,
  jython: python,
  micropython: python,
  jruby: ruby,
  pypy: python,
  tsx: ['-e x; -p x; --eval x; --print x; --require x y; --import x y; --loader x y; -', 'x.ts'],
  'ts-node': ['-e x; -p x; --eval x; --print x; --require x y; -', 'x.ts'],
  julia: ['-e x; -E x; -L x y.jl; --eval x; --print x; --load x y; -', 'x.jl'],
  luajit: ['-e x; -jx y.lua; -l x y.lua; -', 'x.lua'],
  bb: ['-e x; -f x; --eval x; -', 'x.clj; test'],
  elixir: ['-e x; -r x; --eval x; --rpc-eval n x; --erl x; -', 'x.exs'],
  erl: ['-eval x; -s x; -run x; -boot x', 'x'],
  ghc: ['-e x', 'x.hs'],
  groovy: ['-e x', 'x.groovy'],
  guile: ['-c x; -e x y; -', 'x.scm'],
  octave: ['--eval x', 'x.m'],
  // In small letters, it is a word of zsh.
  R: ['-e x', ''],
  racket: ['-e x; -f x; --eval x', 'x.rkt'],
  raku: ['-e x; -Mx y; -', 'x.raku'],
  sbcl: ['--eval x; --load x', 'x.lisp'],
  scala: ['-e x', 'x.scala'],
};

const lines = (program: string, words: string): readonly string[] =>
  words === '' ? [] : words.split('; ').map((one) => `${program} ${one}`);

describe.each<[string, Iterable<string>, Cases]>([
  ['options that run a command', runningOptions.keys(), options],
  ['languages', interpreters.keys(), languages],
])('%s', (_, programs, cases) => {
  test.each([...programs])('%s', (program) => {
    const [runs, not] = cases[program] ?? ['', ''];
    expect(runs, 'a line for each entry of the table').not.toBe('');
    for (const line of lines(program, runs))
      expect([line, why(line)]).toEqual([
        line,
        expect.arrayContaining([expect.stringContaining(`\`${program}`)]),
      ]);
    for (const line of lines(program, not)) expect([line, why(line)]).toEqual([line, []]);
  });
});

test.each(
  [...interpreters.keys()].filter((program) => !/^(?:deno|bun|osascript|erl)$/.test(program)),
)('%s without a file runs its input', (program) => {
  expect(why(program)).toContain(`\`${program}\` runs code that is not a command line`);
});
