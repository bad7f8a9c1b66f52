import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MisuseError } from '../../../src/values/errors/index.ts';
import { checkToolName, nameSkeleton, nearestNames } from '../../../src/values/text/names.ts';
import { charactersRead } from './character-reads.ts';

describe('checkToolName', () => {
  test.each([
    'git',
    'read_file',
    'math.gcd',
    'host/exec',
    '.shell',
    'a',
    'two words',
    'Straße',
    'été',
    '工具',
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '🔧',
    'x'.repeat(1024),
  ])('takes %j as it is', (name) => {
    expect(checkToolName(name)).toBe(name);
  });

  test.each<[rule: string, name: unknown, message: RegExp]>([
    ['no string', 7, /to be a string, got `7` \(number\)/],
    ['no string', undefined, /got undefined/],
    ['no string', null, /got null/],
    ['no string', ['git'], /got an array/],
    ['empty', '', /non-blank/],
    ['blank', ' \t ', /non-blank/],
    ['too long', 'x'.repeat(1025), /at most 1024 characters.*1025/],
    ['far too long', 'x'.repeat(1_000_000), /at most 1024/],
    ['a space before', ' git', /start or end/],
    ['a space after', 'git ', /start or end/],
    ['a line break after', 'git\n', /start or end/],
    ['a no-break space after', 'git\u00a0', /start or end/],
    ['a byte order mark before', '\ufeffgit', /start or end/],
    ['a line break inside', 'a\nb', /control character.*"a\\u\{a\}b"/],
    ['NUL', 'git\u0000push', /control/],
    ['escape', 'a\u001b[31mb', /control/],
    ['delete', 'a\u007fb', /control/],
    ['a C1 control', 'a\u009bb', /control/],
    ['a line separator', 'a\u2028b', /control character or line break/],
    ['right-to-left override', 'git\u202epush', /bidirectional/],
    ['isolate', 'a\u2066b', /bidirectional/],
    ['right-to-left mark', 'a\u200fb', /bidirectional/],
    ['zero width space', 'a\u200bb', /invisible.*\\u\{200b\}/],
    ['zero width joiner', 'a\u200db', /invisible/],
    ['word joiner', 'a\u2060b', /invisible/],
    ['soft hyphen', 'a\u00adb', /invisible/],
    ['byte order mark inside', 'a\ufeffb', /invisible/],
    ['variation selector', '⚙\ufe0f', /invisible/],
    ['supplementary variation selector', 'a\u{e0100}b', /invisible/],
    ['tag characters', 'git\u{e0041}\u{e007f}', /invisible/],
    ['combining grapheme joiner', 'a\u034fb', /invisible/],
    ['hangul filler', 'a\u3164b', /invisible/],
    ['Mongolian vowel separator', 'a\u180eb', /invisible/],
    ['blank braille pattern', 'a\u2800b', /invisible/],
    ['interlinear annotation', 'a\ufff9b', /invisible/],
    ['no-break space inside', 'a\u00a0b', /plain space/],
    ['ideographic space inside', 'a\u3000b', /plain space/],
    ['high surrogate alone', 'a\ud800b', /lone surrogate/],
    ['low surrogate alone', 'a\udc00', /lone surrogate/],
    ['not NFC', 'e\u0301te', /NFC/],
    ['not NFC: Kelvin sign', '\u212aelvin', /NFC/],
    ['the prototype key', '__proto__', /reserved/],
  ])('refuses %s', (_, name, message) => {
    let thrown: unknown;
    try {
      checkToolName(name);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(MisuseError);
    expect(thrown).toMatchObject({
      code: 'invalid_definition',
      message: expect.stringMatching(message),
    });
  });

  test('a refusal is one short visible line whatever the name is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
        try {
          checkToolName(name);
        } catch (error) {
          expect((error as MisuseError).message).toMatch(/^[ -~]{1,1000}$/);
        }
      }),
    );
  });
});

describe('nameSkeleton', () => {
  test.each([
    ['case', 'git_status', 'Git_Status'],
    ['hyphen and underscore', 'git_status', 'git-status'],
    ['fullwidth (NFKC)', 'git', 'ｇｉｔ'],
    ['ligature (NFKC)', 'find_file', 'ﬁnd_ﬁle'],
    ['mathematical letters (NFKC)', 'git', '𝐠𝐢𝐭'],
    ['Cyrillic a', 'read', 'reаd'],
    ['Cyrillic word', 'copaxe', 'сорахе'],
    ['Greek omicron', 'tool', 'toοl'],
    ['Greek nu for v', 'move', 'moνe'],
    ['Greek capital nu for N', 'NAME', 'ΝAΜΕ'],
    ['Greek capital eta for H', 'HASH', 'ΗASΗ'],
    ['Cyrillic palochka for l', 'list', 'ӏist'],
    ['dotless i', 'list', 'lıst'],
    ['zero and O', 'tool', 't00l'],
    ['one, l and I', 'all', 'a1I'],
    ['sharp s and ss', 'strasse', 'STRAßE'],
    ['look-alike with an accent', 'nöte', 'nо\u0308te'.normalize('NFC')],
    ['other hyphens', 'git-status', 'git‑status'],
    ['minus sign', 'git-status', 'git−status'],
  ])('%s: %s and %s are twins', (_, name, twin) => {
    expect(nameSkeleton(twin)).toBe(nameSkeleton(name));
  });

  test.each([
    ['read_file', 'read_files'],
    ['read_file', 'readfile'],
    ['math.gcd', 'math_gcd'],
    ['resume', 'résumé'],
    ['tool_2', 'tool_3'],
    ['a b', 'a_b'],
    ['工具', '工貝'],
  ])('%s and %s are different names', (name, other) => {
    expect(nameSkeleton(other)).not.toBe(nameSkeleton(name));
  });

  test('numbered names stay apart', () => {
    const names = Array.from({ length: 2000 }, (_, index) => `tool_${index}`);
    expect(new Set(names.map(nameSkeleton)).size).toBe(2000);
  });

  test('never throws, is stable, and does not depend on ASCII case or on - and _', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (name) => {
        const skeleton = nameSkeleton(name);
        expect(nameSkeleton(skeleton)).toBe(skeleton);
        expect(nameSkeleton(name.normalize('NFKC'))).toBe(skeleton);
        expect(
          nameSkeleton(
            name.replaceAll('-', '_').replace(/[a-z]/g, (letter) => letter.toUpperCase()),
          ),
        ).toBe(skeleton);
      }),
    );
  });
});

describe('nearestNames', () => {
  const tools = [
    'git_status',
    'git_commit',
    'read_file',
    'write_file',
    'search_files',
    'fetch_status',
    'ls',
  ];

  test.each<[name: string, expected: string[]]>([
    ['git_statsu', ['git_status']],
    ['GIT-STATUS', ['git_status']],
    ['readfile', ['read_file']],
    ['raed_file', ['read_file']],
    ['functions.read_file', ['read_file']],
    ['status', ['fetch_status', 'git_status']],
    ['search_file', ['search_files']],
    ['file', ['read_file', 'search_files', 'write_file']],
    ['l', ['ls']],
    ['deploy', []],
    ['', []],
    ['constructor', []],
  ])('for %j offers %j', (name, expected) => {
    expect(nearestNames(name, tools)).toEqual(expected);
  });

  test('does not depend on the order of the candidates, repeats none, and keeps to max', () => {
    expect(nearestNames('file', [...tools, ...tools].reverse(), 2)).toEqual([
      'read_file',
      'search_files',
    ]);
    expect(nearestNames('file', tools, 0)).toEqual([]);
  });

  test('a name of a megabyte, or 10 000 hostile candidates, cost little', () => {
    const ordinary = Array.from({ length: 10_000 }, (_, index) => `tool_${index}`);
    const alike = Array.from({ length: 10_000 }, (_, index) => `${'a'.repeat(1018)}${index}`);
    // Each of the 3 000 000 comparisons that a search may cost reads at most three characters.
    const most = 9_000_000;
    expect(
      charactersRead(() => expect(nearestNames('a'.repeat(1_000_000), ordinary)).toEqual([])),
    ).toBeLessThan(1_000);
    expect(
      charactersRead(() => expect(nearestNames('tool_77', ordinary)[0]).toBe('tool_77')),
    ).toBeLessThan(most);
    expect(
      charactersRead(() =>
        expect(nearestNames('a'.repeat(1022), alike).length).toBeLessThanOrEqual(3),
      ),
    ).toBeLessThan(most);
    expect(
      charactersRead(() => expect(nearestNames('tool', ['x'.repeat(1_000_000)])).toEqual([])),
    ).toBeLessThan(1_000);
  });

  test('agrees with the whole distance table', () => {
    const distance = (a: string, b: string): number => {
      const table = Array.from({ length: a.length + 1 }, (_, row) =>
        Array.from({ length: b.length + 1 }, (_, column) =>
          row === 0 ? column : column === 0 ? row : 0,
        ),
      );
      const cell = (row: number, column: number): number => table[row]![column]!;
      for (let row = 1; row <= a.length; row++) {
        for (let column = 1; column <= b.length; column++) {
          let cost = Math.min(
            cell(row - 1, column) + 1,
            cell(row, column - 1) + 1,
            cell(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1),
          );
          if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
            cost = Math.min(cost, cell(row - 2, column - 2) + 1);
          table[row]![column] = cost;
        }
      }
      return cell(a.length, b.length);
    };
    const letters = fc.string({
      unit: fc.constantFrom('a', 'b', 'c'),
      minLength: 9,
      maxLength: 14,
    });
    fc.assert(
      fc.property(letters, fc.array(letters, { maxLength: 5 }), (name, candidates) => {
        const near = new Set(nearestNames(name, candidates, 10));
        for (const candidate of candidates) {
          if (candidate.includes(name) || name.includes(candidate)) continue;
          expect(near.has(candidate)).toBe(distance(name, candidate) <= 3);
        }
      }),
    );
  });
});
