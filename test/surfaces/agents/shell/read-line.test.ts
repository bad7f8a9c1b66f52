/** What is found in a command line. */
import fc from 'fast-check';
import * as unbash from 'unbash';
import { describe, expect, test } from 'vitest';
import { PolicyFault } from '../../../../src/core/rules/policies.ts';
import { lineFacts } from '../../../../src/surfaces/agents/effects/line-effects.ts';
import { shellFacts } from '../../../../src/surfaces/agents/shell/read-line.ts';
import { shellParser } from '../../../../src/surfaces/agents/shell/shell-parser.ts';
import { cpuMs } from '../../../runner/cpu-time.ts';

const place = { cwd: '/work/app', project: '/work/app', home: '/home/ann' };
const read = (line: string) => shellFacts(line, place, unbash);
/** The facts, or that the line is refused, which denies the call. */
const judge = (line: string) => {
  try {
    return lineFacts(line, place, unbash);
  } catch (error) {
    if (PolicyFault.reasonOf(error) !== 'command_unreadable') throw error;
    return 'refused';
  }
};
const texts = (line: string) => read(line).commands.map(({ text }) => text);

describe('programs', () => {
  test.each<[string, readonly string[]]>([
    ['ls -l', ['ls -l']],
    ['a; b && c || d | e & f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['g""it pu\\sh', ['git push']],
    ['git -C x --git-dir=y push', ['git push']],
    ['sudo -u ann nice -n 5 rm x', ['sudo -u ann nice -n 5 rm x', 'nice -n 5 rm x', 'rm x']],
    ['env -u A B=1 rm x', ['env -u A B=1 rm x', 'rm x']],
    ['timeout -k 1 5 rm x', ['timeout -k 1 5 rm x', 'rm x']],
    ["bash -lc 'rm x; ls'", ['bash -lc rm x; ls', 'rm x', 'ls']],
    ["eval 'rm' x", ['eval rm x', 'rm x']],
    ['echo "$(rm x)" `ls`', ['echo  ', 'rm x', 'ls']],
    ['cat <<EOF\n$(rm x)\nEOF', ['cat', 'rm x']],
    ["cat <<'EOF'\n$(rm x)\nEOF", ['cat']],
    ['f() { rm x; }; f', ['rm x', 'f']],
    ['/bin/rm x', ['rm x']],
    // It may be anything, so a rule that allows `ls` does not hold, and one that denies `rm` does.
    ['./ls -l', ['./ls -l', 'ls -l']],
    ['sub/rm', ['sub/rm', 'rm']],
    ['/tmp/git push', ['/tmp/git push', 'git push']],
    ['sudo ./x.sh', ['sudo ./x.sh', './x.sh', 'x.sh']],
    ['find . -name x -exec rm {} +', ['find . -name x -exec rm {} +', 'rm {}']],
  ])('%s', (line, expected) => {
    expect(texts(line)).toEqual(expected);
  });
});

describe('places', () => {
  test.each<[string, string]>([
    ['cat ~/.ssh/id', '/home/ann/.ssh/id'],
    ['cat "$HOME/x"', '/home/ann/x'],
    ['cat src/../.env', '/work/app/.env'],
    ['x --file=.env', '/work/app/.env'],
    ['x -f.env', '/work/app/.env'],
    ['curl -d @.env', '/work/app/.env'],
    ['cd /etc && cat passwd', '/etc/passwd'],
    ['x < in > out', '/work/app/in'],
  ])('%s names %s', (line, path) => {
    expect(read(line).paths).toContain(path);
  });

  test('hosts', () => {
    expect(read('x https://A.example:8/x "ftp://u:p@b.example."').hosts).toEqual([
      'a.example',
      'b.example',
    ]);
  });

  test('what is written outside of the project', () => {
    expect(read('a > b >> /etc/c 2>&1 >/dev/null; cd ..; d > e').writesOutside).toEqual([
      'b',
      '/etc/c',
      'e',
    ]);
  });
});

describe('a line that cannot be read for certain is unclear, and says why', () => {
  test.each([
    ['$X', '`$X` stands for a program'],
    ['cat $X', '`$X` is known only at run time'],
    ['PATH=. ls', '`PATH` changes what commands do'],
    ['git up', '`git up` may be an alias'],
    ['sudo --wat rm', '`sudo --wat` is not known here'],
    ['bash x.sh', '`bash` runs a file or its input'],
    ['echo "', 'syntax that is not understood'],
    ['python3.12 -c x', '`python3.12` runs code'],
  ])('%s', (line, why) => {
    const facts = read(line);
    expect(facts.unclear).toBe(true);
    expect(facts.why.join('\n')).toContain(why);
  });

  test('without the parser, an error says what to install', async () => {
    const missing = Object.assign(new Error("Cannot find package 'unbash'"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    await expect(shellParser(() => Promise.reject(missing))).rejects.toThrow('npm install unbash');
  });
});

describe('hostile lines', () => {
  const many = 60_000;
  const unlike = (count: number, text: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => text(at)).join('');
  test.each<[string, string]>([
    ['long', 'x'.repeat(300_000)],
    ['words', 'a/b '.repeat(many)],
    ['folders', 'cd a;'.repeat(many / 4)],
    ['substitutions', '$('.repeat(many)],
    ['as many substitutions as are read', '$('.repeat(2_999)],
    ['as many here-documents as are read', '<<A '.repeat(2_999)],
    ['closed substitutions', `${'$('.repeat(900)}x${')'.repeat(900)}`],
    ['backticks', '`'.repeat(many)],
    ['braces', '{'.repeat(many)],
    ['groups', '('.repeat(many)],
    ['here-documents', '<<A '.repeat(many / 3)],
    ['quotes', '"\''.repeat(many)],
    ['arithmetic', `$((${'('.repeat(many)}`],
    ['evals', 'eval '.repeat(20_000)],
    ['sudos', `${'sudo '.repeat(20_000)}x`],
    ['shells', "bash -c '".repeat(9_000)],
    ['addresses', 'a://'.repeat(many)],
    ['a long word', 'x'.repeat(199_000)],
    ['a long option', `tar -${'a'.repeat(190_000)}`],
    ['short options as one word', `git ${'-a'.repeat(95_000)}`],
    ['open brackets in addresses', 'a://['.repeat(38_000)],
    ['quoted brackets', `x '${'['.repeat(190_000)}'`],
    ['separators', `x${'=:@,'.repeat(many)}`],
    ['a deep path', `${'a/'.repeat(2_000)}x`],
    ['dots', `${'../'.repeat(2_000)}x`],
    ['a null', 'cat a\0b'],
    ['redirects', '>a'.repeat(many)],
    ['many words', `rm ${'a '.repeat(60_000)}`],
    ['many short commands', 'a;'.repeat(90_000)],
    ['many searches', `find ${'-exec a \\; '.repeat(18_000)}`],
    ['searches in searches', `find ${'-exec find '.repeat(12_000)}`],
    ['searches in programs in searches', `env find ${'-exec env find '.repeat(8_000)}`],
    ['sed', `sed 's/${'\\\\'.repeat(many)}'`],
    ['brackets in sed', `sed -n '/${'[^a]'.repeat(50)}x'`],
    ['empty brackets in sed', `sed -n '/${'[]'.repeat(80)}x'`],
    ['names of options', `frobnicate --${'cmd'.repeat(120_000)}`],
    ['letters before a line end', `python3 -${'m'.repeat(350_000)}$'\\n'`],
    ['letters of git before a line end', `git merge -${'s'.repeat(350_000)}$'\\n'`],
    ['letters of curl before a line end', `curl -${'o'.repeat(350_000)}$'\\n'`],
    ['letters of a shell', `bash -${'c'.repeat(350_000)}.`],
    ['letters of tar', `tar c${'f'.repeat(350_000)}.`],
    ['letters of git clean', `git clean -${'n'.repeat(350_000)}.`],
    ['digits', `frobnicate ${'1'.repeat(350_000)}x`],
    ['line ends in a constant', `echo "$(cat <<'E'\n${'\n'.repeat(90_000)}x\nE\n)"`],
    ['slashes in open braces', unlike(90, (at) => `cat '${at}${'{/'.repeat(2_000)}'; `)],
    ['a long pipeline', `find .${'|head'.repeat(90_000)}`],
    ['parts after braces', `echo {a,b}${"''".repeat(200_000)}`],
    ['stars', `echo ${"*''".repeat(200_000)}`],
  ])('%s: read in time', (_, line) => {
    const start = cpuMs();
    const facts = judge(line);
    // Without bounds, these take minutes.
    expect(cpuMs() - start).toBeLessThan(10_000);
    expect(JSON.stringify(facts).length).toBeLessThan(2_000_000);
  });

  test('of many words, all are read', () => {
    const { commands, unclear } = read(`rm ${'a '.repeat(40_000)}`);
    expect([commands[0]?.program, unclear]).toEqual(['rm', false]);
  });

  // What a rule denies must not pass, wherever it is in the line.
  test.each<[string, string]>([
    ['characters in a word', `: ${'x'.repeat(300_000)};`],
    ['characters', `: ${'x'.repeat(1_200_000)};`],
    ['a comment', `# ${'x'.repeat(300_000)}\n`],
    ['commands that are alike', 'true; '.repeat(25_000)],
    ['commands', unlike(7_000, (at) => `true ${at}; `)],
    ['long commands', unlike(300, (at) => `echo ${at}${'x'.repeat(1_500)}; `)],
    ['brackets in quotes', `: '${'('.repeat(3_001)}';`],
    ['more brackets in quotes', `: '${'({`'.repeat(9_000)}';`],
    ['brackets', `${'$('.repeat(400)}x${')'.repeat(400)};`],
    ['here-documents', 'cat <<A\nA\n'.repeat(9_000)],
    ['words', `echo ${unlike(12_000, (at) => `${at} `)};`],
    ['words that are alike', `echo ${'x '.repeat(60_000)};`],
    ['paths', `ls ${unlike(7_000, (at) => `a/${at} `)};`],
    ['parts of a word', `echo ${unlike(300, (at) => `${at},`)};`],
    ['folders', 'cd a; '.repeat(20)],
    ['other folders', unlike(40, (at) => `cd ${at}; `)],
    ['more folders', unlike(400, (at) => `cd ${at}; `)],
    ['scripts', unlike(70, (at) => `bash -c 'echo ${at}'; `)],
    ['scripts that are alike', "bash -c 'echo'; ".repeat(70)],
    ['programs in programs', `${'sudo '.repeat(40)}true; `],
    ['addresses', `echo ${'https://a.example '.repeat(90)}; echo '${'https:a '.repeat(90)}'; `],
    ['syntax that is not understood', 'echo a(b) ) fi; '],
    ['an open quote', "echo a; : '\n' ; echo $(( ; "],
    ['a null', 'echo a\0b; '],
  ])('%s: what precedes and follows is known, or the line is refused', (_, much) => {
    for (const line of [`cat .env; ${much} true`, `${much} cat .env`, `${much}cat .env\n${much}`]) {
      const facts = judge(line);
      if (facts !== 'refused') expect(facts.paths).toContain('/work/app/.env');
    }
  });

  test('whatever is written, there is an answer', () => {
    const piece = fc.constantFrom(
      ...['git', 'push', ' ', '"', "'", '\\', '$(', ')', '`', '{', '}', ';', '\n', '<<E', '>', '|'],
      ...['bash -c', 'eval', '$X', '~', '*', '=', 'sudo', '-u', '#', '&&', 'é', '\0', '((', '[['],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const facts = judge(pieces.join(''));
        expect(facts === 'refused' || typeof facts.unclear === 'boolean').toBe(true);
      }),
    );
  });

  test('quoting a word in any way does not hide it', () => {
    const quote = fc.constantFrom<(letter: string) => string>(
      (letter) => letter,
      (letter) => `"${letter}"`,
      (letter) => `'${letter}'`,
      (letter) => `\\${letter}`,
      (letter) => `${letter}""`,
      (letter) => `$'\\x${letter.charCodeAt(0).toString(16)}'`,
    );
    fc.assert(
      fc.property(fc.array(quote, { minLength: 7, maxLength: 7 }), (quotes) => {
        const letters = [...'gitpush'].map((letter, at) => quotes[at]?.(letter) ?? letter);
        const line = `${letters.slice(0, 3).join('')} ${letters.slice(3).join('')}`;
        expect(texts(line)).toContain('git push');
      }),
    );
  });
});
