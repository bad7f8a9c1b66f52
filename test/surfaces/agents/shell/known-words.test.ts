/** Words whose value is known although the shell computes it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as unbash from 'unbash';
import { beforeAll, describe, expect, test } from 'vitest';
import { shellFacts } from '../../../../src/surfaces/agents/shell/read-line.ts';
import { folder } from '../../config/folder.ts';

let at = '';
beforeAll(() => {
  let remove = (): void => {};
  at = folder(
    {
      '.env': 'KEY=1',
      'a.md': '',
      'b c.md': '',
      'src/a.ts': '',
      'src/b.test.ts': '',
      'src/deep/c.ts': '',
      'src/.hidden.ts': '',
      'conf/prod.key': '',
      '-rf': '',
    },
    (work) => {
      remove = work;
    },
  ).path;
  mkdirSync(join(at, 'many'));
  for (let one = 0; one < 300; one++) writeFileSync(join(at, `many/${one}.x`), '');
  return () => remove();
});

const read = (line: string) =>
  shellFacts(line, { cwd: at, project: at, home: '/home/ann' }, unbash);
const texts = (line: string) => read(line).commands.map(({ text }) => text);

describe('what a line means is known', () => {
  test.each<[string, string]>([
    [
      `git commit -m "$(cat <<'EOF'\nFix the parser\n\nIt is (done).\nEOF\n)"`,
      'git commit -m Fix the parser\n\nIt is (done).',
    ],
    [`git commit -m "$(cat <<EOF\nFix it\nEOF\n)"`, 'git commit -m Fix it'],
    [
      `git commit -m "$(cat <<-'EOF'\n\tFix it\n\tEOF\n)" --no-verify`,
      'git commit -m Fix it --no-verify',
    ],
    ['echo "$(echo a b)"', 'echo a b'],
    ['echo $(echo a)', 'echo a'],
    ['cat `echo a.md`', 'cat a.md'],
    ['$(echo git) push', 'git push'],
    [`bash -c "$(cat <<'EOF'\ngit push\nEOF\n)"`, 'git push'],
    ['echo "exit: $?"', 'echo exit: 0'],
    [`echo $? $# $$ "${'$'}{?}"`, 'echo 0 0 0 0'],
    ['kill $!', 'kill '],
    ['for i in 1 2 3; do echo $i; done', 'echo 3'],
    ['for i in {1..3}; do echo "n$i.x"; done', 'echo n2.x'],
    ['for f in a b; do for g in c d; do echo $f$g; done; done', 'echo bc'],
    [`for f in a.md; do mv "$f" "${'$'}{f}.old"; done`, 'mv a.md a.md.old'],
    ['for x in git; do $x push; done', 'git push'],
    ['for x in \'git push\'; do eval "$x"; done', 'git push'],
    ['for f in src/*.ts; do echo "$f"; done', 'echo src/a.ts'],
    ['ls src/*.ts', 'ls src/a.ts src/b.test.ts'],
    ['ls src/?.ts', 'ls src/a.ts'],
    ['ls src/[ab].ts', 'ls src/a.ts'],
    ['ls src/**/*.ts', 'ls src/a.ts src/b.test.ts src/deep/c.ts'],
    ['ls */a.ts', 'ls src/a.ts'],
    ['ls none/*.ts', 'ls none/*.ts'],
    ['cat .e*', 'cat .env'],
    ['mkdir -p src/{x,y}/z', 'mkdir -p src/x/z src/y/z'],
    ['{git,push}', 'git push'],
    ['cat {.env,a.md}', 'cat .env a.md'],
    ['npm run build && ls src/*.ts', 'ls src/a.ts src/b.test.ts'],
    ['find src -type f | xargs grep -l parse', 'grep -l parse'],
    ['find src -type f | xargs wc -l | sort -rn | head', 'wc -l'],
    ["find . -name '*.ts' -not -path './node_modules/*' | xargs grep -n parse", 'grep -n parse'],
    ["find . -name '*.ts' -exec grep -n parse {} +", 'grep -n parse {}'],
    ['find src -type f -exec wc -l {} \\;', 'wc -l {}'],
    ['git ls-files | grep test | xargs ls -l', 'ls -l'],
    ['rg -l parse src | xargs wc -l', 'wc -l'],
    ['grep -rl parse src | xargs -n 1 basename', 'basename'],
    ['fd -e ts -x wc -l', 'wc -l'],
    ["awk '{print $1}' sizes.txt", 'awk {print $1} sizes.txt'],
    [
      "awk -F: '/x/ { n += $2 } END { print n }' sizes.txt",
      'awk -F: /x/ { n += $2 } END { print n } sizes.txt',
    ],
    ["sed -n '/a/,/b/p;$p' a.md", 'sed -n /a/,/b/p;$p a.md'],
    ['[ -f a.md ] && cat a.md', 'cat a.md'],
    ['command -v node', 'command -v node'],
    ['case x in *.ts) ls;; esac', 'ls'],
  ])('%s', (line, expected) => {
    const { why, commands } = read(line);
    expect(why).toEqual([]);
    expect(commands.map(({ text }) => text)).toContain(expected);
  });
});

describe('what a line means is not known', () => {
  test.each([
    'echo "$(cat x)"',
    'cat "$(echo .e)$X"',
    'cat $(echo "a b")',
    'echo "$(echo -e x)"',
    'echo "$(echo \'a\\nb\')"',
    `cat "$(cat <<EOF\n$X\nEOF\n)"`,
    `cat "$(X=1 cat <<'EOF'\na\nEOF\n)"`,
    '$? x',
    'git$! push',
    'echo $1',
    'echo "$@"',
    'for i in $X; do echo $i; done',
    'for i in 1 2; do i=x; cat $i; done',
    'for i in 1 2; do read i; cat $i; done',
    'for i in 1 2; do printf -v i x; cat $i; done',
    'for i in 1 2; do declare i=x; cat $i; done',
    'for i in 1 2; do (( i++ )); cat $i; done',
    'f() { i=x; }; for i in 1 2; do f; cat $i; done',
    'for i in 1; do :; done; cat $i',
    "for f in 'a .env'; do cat $f; done",
    "for f in '*'; do cat $f; done",
    'for f in *.md; do cat $f; done',
    'for _ in a; do cat $_; done',
    'for RANDOM in a; do cat $RANDOM; done',
    'for IFS in a; do ls; done',
    'for f in many/*; do echo $f; done',
    'cat many/*',
    'npm run build && cat src/*.ts',
    'tar xf x.tar; head conf/*',
    'while true; do cat src/*.ts; npm run gen; done',
    'f() { cat conf/*; }; npm run gen; f',
    'for i in 1 2; do cat conf/*; npm run gen; done',
    '*/x',
    'cat @(a|b)',
    'cat {a,$X}',
    'echo x > *.md',
    'find . -type f | xargs cat',
    "find . -name '.e*' | xargs cat",
    "find . -name '.e*' -exec cat {} +",
    "find . -name '*.ts' -o -name '.e*' | xargs cat",
    "find . -name '*.ts' -o -name '.e*' -exec head {} +",
    "find . -regex '.*env' -exec cat {} +",
    "find . -name '*.ts' | tr x . | xargs cat",
    "find . -name '*.ts' | sed s/x/y/ | xargs cat",
    "find . -name '*.ts' | grep -o e.* | xargs cat",
    "find . -name '*.ts' | head -c 4 | xargs cat",
    "find . -name '*.ts' -printf .env | xargs cat",
    "printf '.%s' env | xargs cat",
    'echo x | xargs ls',
    'cat list | xargs wc -l',
    'find . | xargs -a list cat',
    'find src | xargs rm',
    "find . -name '*.ts' | xargs sort -o x",
    "find . -name '*.ts' | xargs sh -c 'x'",
    'xargs ls < list',
    'find . < x | xargs ls',
    'awk \'{ print > "x" }\' a.md',
    'awk \'{ print | "sh" }\' a.md',
    'awk \'BEGIN { system("x") }\'',
    'awk \'BEGIN { getline x < ".env" }\'',
    'awk \'BEGIN { ARGV[1] = ".env" } 1\' a.md',
    'awk -f x.awk a.md',
    'awk \'@load "x"\' a.md',
    'awk \'BEGIN { print ENVIRON["X"] }\'',
    "sed -n '/a/w x' a.md",
    "sed '1e x' a.md",
  ])('%s', (line) => {
    expect(read(line).unclear).toBe(true);
  });
});

test('files of a pattern are paths, so that rules see them', () => {
  expect(read('cat conf/*').paths).toContain(join(at, 'conf/prod.key'));
  expect(read('for f in conf/*; do cat "$f"; done').paths).toContain(join(at, 'conf/prod.key'));
  expect(read('cd conf && cat *').paths).toContain(join(at, 'conf/prod.key'));
  expect(read('cat {.env,x}').paths).toContain(join(at, '.env'));
  expect(read('cat .en$!v').paths).toContain(join(at, '.env'));
  expect(read('cat "$(echo .env)"').paths).toContain(join(at, '.env'));
});

test('variables of a loop are those of the same shell', () => {
  expect(texts("for i in a b; do eval 'rm $i'; done")).toEqual(
    expect.arrayContaining(['rm a', 'rm b']),
  );
  expect(read("for i in x; do bash -c 'cat .env$i'; done").unclear).toBe(true);
  expect(read("for i in x; do bash -c 'cat .env$i'; done").paths).toContain(join(at, '.env'));
});

test('a file whose name is an option is one', () => {
  expect(texts('rm *')).toContain('rm -rf a.md b c.md conf many src');
});
