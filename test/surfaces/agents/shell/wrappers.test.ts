/** Programs that run the rest of their words, and words that only zsh reads so. */
import * as unbash from 'unbash';
import { describe, expect, test } from 'vitest';
import { shellFacts } from '../../../../src/surfaces/agents/shell/read-line.ts';
import { isDecisive } from '../../../../src/surfaces/agents/shell/variables.ts';
import { runners, runsOthers, wrappers } from '../../../../src/surfaces/agents/shell/wrappers.ts';

const place = { cwd: '/work/app', project: '/work/app', home: '/home/ann' };
const read = (line: string) => shellFacts(line, place, unbash);
const texts = (line: string) => read(line).commands.map(({ text }) => text);

describe('each program of the tables', () => {
  test.each([...wrappers])('%s: the command after it is known', (program, { skip = 0 }) => {
    const own = `${program} ${'1 '.repeat(skip)}`;
    expect(texts(`${own}git push origin`)).toContain('git push origin');
    expect(texts(`${own}sh -c 'rm -rf src'`)).toContain('rm -rf src');
  });

  test.each([...runners])(
    '%s: the command after its word is known',
    (program, { words, valued }) => {
      for (const word of words) {
        expect(texts(`${program} ${word} git push`)).toContain('git push');
        expect(texts(`${program} ${word} -- git push`)).toContain('git push');
        expect(texts(`${program} --some-option ${word} --other git push`)).toContain('git push');
        for (const option of valued.filter(Boolean)) {
          expect(texts(`${program} ${option} x ${word} git push`)).toContain('git push');
          expect(texts(`${program} ${word} ${option} x git push`)).toContain('git push');
        }
      }
    },
  );

  test.each([...runsOthers])(
    '%s: the line is unclear, and a command after it is known',
    (program) => {
      const facts = read(`${program} git push`);
      expect(facts.unclear).toBe(true);
      expect(facts.commands.map(({ text }) => text)).toContain('git push');
      expect(texts(`${program} --some-option 'git push'`)).toContain('git push');
    },
  );
});

describe('a program that is not known', () => {
  test.each([
    'frobnicate git push',
    'frobnicate run -- git push',
    'frobnicate --then "git push"',
    'frobnicate /usr/bin/git push',
    'frobnicate sh -c "git push"',
    '/lib64/ld-linux-x86-64.so.2 /usr/bin/git push',
    './wrap.sh git push',
    'frobnicate --exec=git push',
    'frobnicate --exec="git push"',
    "frobnicate 'cd x && git push'",
    'arch -x86_64 git push',
    'bun run git push',
    'pnpm git push',
    'pnpm -C sub git push',
  ])('%s: the line is unclear, or the command is known', (line) => {
    expect(texts(line)).toContain('git push');
  });

  test.each([
    'echo git push',
    'grep -r git src',
    'frobnicate --all src',
    'pip install sh',
    'brew install git curl',
    'npm install git',
    'mkdir -p git/sh',
    'vitest run git',
    'man git',
    'cargo test rm',
    'pytest -k sh',
    'poetry run pytest',
    'poetry run python -m pytest -q',
    'uv run pytest -q',
    'pdm run pytest',
    'bundle exec rspec',
    'pnpm exec vitest run',
    'npx vitest run',
    'yarn test',
    'npm run build -- --watch',
    'arch',
    'bun run build',
    'frobnicate --language=python',
  ])('%s: an ordinary line is clear', (line) => {
    expect(read(line).why).toEqual([]);
  });
});

describe('what only zsh reads so', () => {
  test.each([
    '=git push',
    'noglob git push',
    'nocorrect git push',
    '- git push',
    'repeat 2 git push',
    'repeat 2 { git push; }',
    'repeat 2; git push',
    'repeat 2 do git push; done',
    'emulate sh -c "git push"',
    'emulate -R zsh -c "git push"',
    "functions[ls]='git push'; ls",
    "functions+=(ls 'git push'); ls",
    "aliases[ls]='git push'; eval ls",
    'commands[ls]=/tmp/x; ls',
    "galiases[x]='; git push'; eval x",
    "typeset 'functions[ls]=git push'; ls",
    'path=(/tmp/x $path); ls',
    'path=/tmp/x; ls',
    'zmodload zsh/files; zf_rm -rf src',
    'zmodload zsh/system',
    'zf_mv a b',
    'builtin zf_rm x',
    'for x (a b) git push',
    'for x in 1 2; git push',
    'foreach x (a b); git push; end',
    'if [[ a ]] { git push }',
    'while true { git push }',
    'until (false) git push',
    'select x (a b) git push',
    'case x { (x) git push ;; }',
    '() { git push } a',
    'function { git push } a',
    '{ git push } always { ls }',
    'ls () git push',
    "ls *(e:'git push':)",
    'ls src/*(+gitpush)',
    'ls src/*.ts(.)',
    'cat x<->',
    'cat <1-5>x',
    'cat =(git push)',
    'cat (a|b)',
    'cat =ls',
    'git push &!',
    'git push &|',
    'git $=x',
    'echo $+commands[git]',
    `echo ${'$'}{(e)x}`,
    `echo ${'$'}{(%)x}`,
    `echo ${'$'}{=x}`,
    'echo "$=x"',
    'echo $^x',
    'autoload -U zmv; zmv a b',
    'autoload -U zargs; zargs -- a -- git push',
    'setopt globdots',
    'set -o promptsubst',
    "print -P '%{$(git push)%}'",
    "print -z 'git push'",
    'disable -r if',
    'sched +1 git push',
    'zpty x git push',
    'r git',
    'chdir /tmp',
    'vared PATH',
  ])('%s', (line) => {
    const { unclear, commands } = read(line);
    expect([unclear || commands.some(({ text }) => text === 'git push')]).toEqual([true]);
  });

  test.each(['zf_rm -rf src', '=rm -rf src', 'noglob rm -rf src', 'repeat 2 { rm -rf src; }'])(
    '%s: rules about the program see it',
    (line) => {
      expect(texts(line).some((text) => text.startsWith('rm -rf src'))).toBe(true);
    },
  );

  test('a file after `>!` is written', () => {
    expect(read('echo x >! /etc/passwd').writesOutside).toContain('/etc/passwd');
    expect(read("echo x >>!'/etc/passwd'").writesOutside).toContain('/etc/passwd');
  });

  test.each(['set -euo pipefail', 'set -e', '[ a = b ]', '[[ a == b ]]', 'echo a=b', 'x=1'])(
    '%s: what all shells read alike is clear',
    (line) => {
      expect(read(line).why).toEqual([]);
    },
  );
});

describe('code in a calculation', () => {
  test.each([
    "(( 'a[$(git push)]' ))",
    "echo $(( 'a[$(git push)]' ))",
    "(( a['$(git push)'] ))",
    "let 'a[$(git push)]'",
    "[[ 'a[$(git push)]' -eq 1 ]]",
    "for (( i='a[$(git push)]'; i<1; i++ )); do :; done",
    'x[$(git push)]=1',
  ])('%s', (line) => {
    const { unclear, commands } = read(line);
    expect(unclear || commands.some(({ text }) => text === 'git push')).toBe(true);
  });
});

describe('variables', () => {
  test.each(
    (
      'PATH HOME IFS ENV BASH_ENV BASH_CMDS BASH_ALIASES PS4 CDPATH LD_PRELOAD DYLD_INSERT_LIBRARIES ' +
      'GIT_SSH_COMMAND SSH_ASKPASS NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT ' +
      'LUA_INIT LUA_INIT_5_4 LUA_PATH DOTNET_STARTUP_HOOKS CORECLR_PROFILER_PATH MAVEN_OPTS MAVEN_ARGS ' +
      'GRADLE_OPTS SBT_OPTS JAVA_OPTS JAVA_TOOL_OPTIONS _JAVA_OPTIONS JRUBY_OPTS ERL_FLAGS ERL_AFLAGS ' +
      'ELIXIR_ERL_OPTIONS PHPRC PHP_INI_SCAN_DIR CC CXX LD CFLAGS LDFLAGS RUSTC_WRAPPER ' +
      'CARGO_BUILD_RUSTC_WRAPPER CMAKE_C_COMPILER_LAUNCHER R_PROFILE_USER JULIA_LOAD_PATH GOFLAGS ' +
      'GOTOOLCHAIN GHCRTS OCAMLRUNPARAM npm_config_script_shell YARN_YARN_PATH PIP_INDEX_URL ' +
      'PYTEST_ADDOPTS PYTEST_PLUGINS BUNDLE_GEMFILE TF_CLI_ARGS https_proxy HTTPS_PROXY OPENSSL_CONF ' +
      'EDITOR VISUAL GIT_EDITOR PAGER MANPAGER LESSOPEN VIMINIT TAR_OPTIONS NULLCMD ZDOTDIR fpath ' +
      'XDG_CONFIG_HOME KUBECONFIG AWKPATH RSYNC_RSH PSQL_EDITOR KUBE_EDITOR'
    ).split(' '),
  )('%s decides what runs', (name) => {
    expect(isDecisive(name)).toBe(true);
    for (const line of [
      `${name}=x ls`,
      `export ${name}=x`,
      `export '${name}=x'`,
      `env ${name}=x ls`,
    ])
      expect([line, read(line).unclear]).toEqual([line, true]);
  });

  test.each([
    'make CC=./x',
    'make -j4 CXX=x all',
    'cmake -DCMAKE_C_COMPILER=./x .',
    'declare "PATH=x"',
    'read PATH',
  ])('%s', (line) => {
    expect(read(line).unclear).toBe(true);
  });

  test.each([
    'NODE_ENV=test',
    'CI=1',
    'DEBUG=x',
    'GOOS=linux',
    'FOO=bar',
    'RUST_LOG=debug',
    'PORT=1',
  ])('%s is harmless', (set) => {
    expect(read(`${set} npm test`).why).toEqual([]);
    expect(read(`export ${set}`).why).toEqual([]);
  });
});
