/** Lines of Codex: what is written to a program later, and patches in a command line. */
import * as unbash from 'unbash';
import { describe, expect, test } from 'vitest';
import { fedTables } from '../../../../src/surfaces/agents/shell/programs.ts';
import { shellFacts } from '../../../../src/surfaces/agents/shell/read-line.ts';

const place = { cwd: '/work/app', project: '/work/app', home: '/home/ann' };
const read = (line: string, feeds = true) => shellFacts(line, place, unbash, undefined, feeds);

describe('programs that run what is written to them', () => {
  test.each([...fedTables.programs])('%s', (program) => {
    expect(read(`${program} notes.txt`).unclear).toBe(true);
    expect(read(`ls && sudo ${program} notes.txt`).unclear).toBe(true);
  });

  test.each([...fedTables.alone])('%s without words', (program) => {
    expect(read(program).unclear).toBe(true);
  });

  /** For each program of the table of words, lines that open a prompt. */
  const prompts: Readonly<Record<string, string>> = {
    python: 'python -i x.py; python3 manage.py shell; python3.12 -m pdb x.py',
    node: 'node inspect x.js; node -i',
    perl: 'perl -d x.pl',
    php: 'php -a; php artisan tinker',
    ruby: 'ruby -d x.rb',
    lua: 'lua -i x.lua',
    rails: 'rails c; rails dbconsole',
    rake: 'rake console',
    deno: 'deno repl',
    bun: 'bun repl',
    lein: 'lein repl',
    sbt: 'sbt console',
    stack: 'stack ghci',
    cabal: 'cabal repl',
    mix: 'mix iex',
    systemctl: 'systemctl edit x',
    npm: 'npm edit x; npm explore x',
    gh: 'gh pr edit',
  };
  test.each([...fedTables.prompts.keys()])('%s with a word that opens a prompt', (program) => {
    for (const line of (prompts[program] as string).split('; '))
      expect([line, read(line).unclear]).toEqual([line, true]);
  });

  /** For each command of git, lines that open an editor, and lines that do not. */
  const edits: Readonly<Record<string, readonly [opens: string, not: string]>> = {
    add: ['git add -p; git add -i; git add --patch src', 'git add -A; git add src'],
    branch: ['git branch --edit-description', 'git branch x'],
    checkout: ['git checkout -p; git checkout --patch', 'git checkout -b x'],
    clean: ['git clean -i', 'git clean -n'],
    commit: [
      'git commit; git commit --amend',
      'git commit -m x; git commit -am x; git commit --amend --no-edit',
    ],
    config: ['git config -e; git config --edit', 'git config user.email'],
    merge: ['git merge x', 'git merge --no-edit x; git merge --abort; git merge --ff-only x'],
    notes: ['git notes edit', 'git notes add -m x; git notes show'],
    rebase: ['git rebase -i x; git rebase --edit-todo', 'git rebase main'],
    replace: ['git replace --edit x', 'git replace a b'],
    reset: ['git reset -p', 'git reset HEAD'],
    restore: ['git restore -p', 'git restore --staged x'],
    revert: ['git revert x', 'git revert --no-edit x; git revert --abort'],
    stash: ['git stash -p', 'git stash; git stash pop'],
    tag: ['git tag -a v1', 'git tag; git tag v1; git tag -a v1 -m x'],
  };
  test.each([...fedTables.edits.keys()])('git %s', (command) => {
    const [opens, not] = edits[command] as readonly [string, string];
    for (const line of opens.split('; ')) expect([line, read(line).unclear]).toEqual([line, true]);
    for (const line of not.split('; ')) expect([line, read(line).why]).toEqual([line, []]);
  });

  test.each([
    'less notes.txt',
    'git log | less',
    'man git',
    'more notes.txt',
    'x=1 top',
    'bash -c "less x"',
    'git commit',
  ])('%s: unclear for an agent that writes to programs, and clear for others', (line) => {
    expect(read(line).unclear).toBe(true);
    expect(read(line, false).why).toEqual([]);
  });

  test.each(['ls', 'git log', 'git diff', 'npm test', 'python3 x.py', 'less --version', 'cat x'])(
    '%s is clear',
    (line) => {
      expect(read(line).why).toEqual([]);
    },
  );
});

describe('a patch in a command line', () => {
  const patch = '*** Begin Patch\n*** Add File: .codex/config.toml\n+x\n*** End Patch';
  const file = '/work/app/.codex/config.toml';

  test.each([
    `apply_patch <<'EOF'\n${patch}\nEOF`,
    `apply_patch <<"EOF"\n${patch}\nEOF\n`,
    `apply_patch <<EOF\n${patch}\nEOF`,
    `apply_patch <<-'EOF'\n\t${patch.replaceAll('\n', '\n\t')}\n\tEOF`,
    `applypatch <<'EOF'\n${patch}\nEOF`,
    `apply_patch '${patch}'`,
    `apply_patch "${patch}"`,
    `apply_patch $'${patch.replaceAll('\n', '\\n')}'`,
    `apply_patch <<< '${patch}'`,
    `bash -lc "apply_patch <<'EOF'\n${patch}\nEOF"`,
    `sh -c 'apply_patch "${patch}"'`,
    `ls; sudo apply_patch <<'EOF'\n${patch}\nEOF\ntrue`,
    `/usr/bin/apply_patch '${patch}'`,
    `x/apply_patch '${patch}'`,
    `apply_patch <<'EOF'\n  ${patch.replaceAll('\n', '\n  ')}\nEOF`,
  ])('%j: its file is known', (line) => {
    expect(read(line).paths).toContain(file);
  });

  test('after `cd`, files are looked for in both folders', () => {
    const { paths } = read(`cd src && apply_patch <<'EOF'\n${patch}\nEOF`);
    expect(paths).toContain('/work/app/src/.codex/config.toml');
    expect(paths).toContain(file);
    expect(
      read(`cd src && apply_patch <<'EOF'\n${patch.replace('.codex', '../.codex')}\nEOF`).paths,
    ).toContain(file);
  });

  test('files outside of the project are outside, and written', () => {
    const outside = patch.replace('.codex', '/etc/x');
    const facts = read(`apply_patch '${outside}'`);
    expect(facts.outside).toContain('/etc/x/config.toml');
    expect(facts.writesOutside).toContain('/etc/x/config.toml');
    const moved = patch.replace('+x', '*** Move to: ../y');
    expect(read(`apply_patch '${moved}'`).writesOutside).toContain('../y');
  });

  test.each([
    'apply_patch',
    'apply_patch < p.diff',
    'cat p.diff | apply_patch',
    `apply_patch "$X"`,
    `apply_patch <<EOF\n*** Begin Patch\n*** Add File: $X\n+x\n*** End Patch\nEOF`,
    `apply_patch '${patch}' more`,
  ])('%j: unclear, since it is not in the line', (line) => {
    expect(read(line).unclear).toBe(true);
  });
});
