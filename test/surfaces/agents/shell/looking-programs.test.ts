/** Which programs only look. */
import { describe, expect, test } from 'vitest';
import {
  lookingTables,
  onlyLooks,
} from '../../../../src/surfaces/agents/shell/looking-programs.ts';
import { interpreters, shells } from '../../../../src/surfaces/agents/shell/programs.ts';
import { runsOthers } from '../../../../src/surfaces/agents/shell/wrappers.ts';

const { always, rows, commands, versioned } = lookingTables;

const looks = (line: string): boolean => {
  const [program = '', ...words] = line.split(' ');
  return onlyLooks(program, words);
};

/** For each program, lines that only look, and lines that do more. */
const cases: Readonly<Record<string, readonly [looking: string, more: string]>> = {
  base64: ['base64 -d x', 'base64 -o x; base64 -do x; base64 --output=x'],
  command: ['command -v node; command -V ls', 'command node; command -p rm x'],
  date: [
    'date; date +%F; date -u; date -d yesterday',
    'date -s x; date -us x; date --set=x; date 01020304',
  ],
  du: ['du -sh src', 'du --files0-from=x; du --fi=x'],
  wc: ['wc -l src/a.ts', 'wc --files0-from=x; wc --f=x'],
  fd: ['fd -e ts', 'fd x -x rm; fd -Hx rm; fd x --exec-batch rm'],
  fdfind: ['fdfind x', 'fdfind . src -x rm; fdfind -X rm'],
  file: ['file -bi x; file --mime-type x', 'file -C; file -f list; file -m x; file --files-from x'],
  find: [
    'find . -name *.ts -not -path ./x',
    'find . -delete; find -exec rm; find -okdir rm; find -fprintf x',
  ],
  hexdump: ['hexdump -C x', 'hexdump -f x'],
  hostname: ['hostname; hostname -f', 'hostname evil; hostname -F x; hostname -b x'],
  iconv: ['iconv -f latin1 x', 'iconv -o x; iconv --output=x'],
  jobs: ['jobs -l', 'jobs -x rm'],
  jq: ['jq .a x.json; jq -r .a', 'jq -n env; jq -n $ENV.X; jq -f x; jq --from-file x; jq -L .'],
  nm: ['nm -C x', 'nm --plugin x.so; nm --plug=x.so'],
  od: ['od -c x', ''],
  ps: ['ps aux; ps -ef', 'ps e; ps auxe; ps eww; ps -E'],
  printf: ['printf %s x', 'printf -v PATH x'],
  readelf: ['readelf -h x', 'readelf --plugin x'],
  rg: ['rg -n parse -g *.ts', 'rg --pre x; rg --pre=x; rg --hostname-bin=x; rg -z x'],
  size: ['size x', 'size --plugin x'],
  sort: [
    'sort -rn; sort -k2 x',
    'sort -o x; sort -no x; sort x --output=y; sort --compress-program=x',
  ],
  strings: ['strings x', 'strings --plugin x'],
  tar: [
    'tar tf x.tar; tar -tzf x.tgz; tar -tvf x',
    'tar xf x; tar tf h:x; tar -tf x -I sh; tar -tf x --to-command=sh',
  ],
  tree: ['tree -L 2', 'tree -o x; tree -aR; tree --output=x'],
  uniq: ['uniq -c; uniq a; uniq -f 1 a', 'uniq a b; uniq - b'],
  unzip: ['unzip -l x.zip; unzip -Z1 x', 'unzip x.zip; unzip -o -l x; unzip -l x -d y'],
  yq: [
    'yq .jobs x.yml; yq -r .a x; yq -o=json . x',
    'yq -i .a=1 x; yq --inplace . x; yq -s .a x; yq env(X); yq load(.) x; yq -f x; yq eval-all x',
  ],
  xxd: ['xxd x; xxd -l 16 x', 'xxd x y; xxd -r x; xxd -ps -r x'],
};

describe('each program of the table', () => {
  test.each([...rows.keys()])('%s has a case', (program) => {
    const [looking, more] = cases[program] as readonly [string, string];
    for (const line of looking.split('; ')) expect([line, looks(line)]).toEqual([line, true]);
    for (const line of more.split('; ').filter(Boolean))
      expect([line, looks(line)]).toEqual([line, false]);
  });

  test.each([...always])('%s looks, whatever its words are', (program) => {
    expect(looks(`${program} -o x`)).toBe(true);
    // None of them can be told to run something.
    expect(runsOthers.has(program) || shells.has(program) || interpreters.has(program)).toBe(false);
  });

  test.each([...commands])('%s has commands that look', (program, own) => {
    for (const command of own) expect(looks(`${program} ${command}`)).toBe(true);
    expect(looks(`${program} run`)).toBe(false);
    expect(looks(program)).toBe(false);
    expect(looks(`${program} --host=x ${[...own][0]}`)).toBe(false);
    expect(looks(`${program} ${[...own][0]} --host=x`)).toBe(false);
  });

  test.each([...versioned])('%s prints its version', (program) => {
    expect(looks(`${program} --version`)).toBe(true);
    expect(looks(`${program} --version x`)).toBe(false);
  });
});

test.each([
  ['sed -n 1,40p x', true],
  ['sed -ne 1p -e 3p x', true],
  ['sed s/a/b/ x', true],
  ['sed -i s/a/b/ x', false],
  ['sed -ni 1p x', false],
  ['sed --in-place s/a/b/ x', false],
  ['sed 1w x', false],
  ['sed s/a/b/e x', false],
  ['sed -f x', false],
  ['sed', false],
  ['sed -n /a/p;$p x', true],
  ['sed 1d;1e x', false],
  ['sed /a/w x', false],
  ['sed /[/]/w x', false],
  ['awk {print} x', true],
  ['awk -F: {print} x', true],
  ['awk -f x', false],
  ['gawk -i inplace {print} x', false],
  ['awk {print>"x"} x', false],
  ['awk system("x") x', false],
  ['awk', false],
])('%s', (line, expected) => {
  expect(looks(line)).toBe(expected);
});

test.each(['rm x', 'toString', '__proto__', 'constructor x', 'cargo test', 'unknown', ''])(
  '%s does more, or is not known',
  (line) => {
    expect(looks(line)).toBe(false);
  },
);
