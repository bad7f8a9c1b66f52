/**
 * Compiled code that hooks keep: used only if it is whole and nobody else could have written it.
 */
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runBundle } from '../../../src/cli/hook-code.ts';
import { folder } from '../../surfaces/config/folder.ts';

const bundle = `(function(require, module, exports, url) {
  module.exports = { sum: (a, b) => a + b, url, path: require('node:path').sep };
})`;

function world(text = bundle) {
  const files = folder({ 'bundle.cjs': text, 'state/.keep': '' });
  const state = files.at('state');
  const run = (within: string | undefined = state) => runBundle(files.at('bundle.cjs'), within);
  const kept = (): string => {
    const names = readdirSync(state).filter((name) => name.startsWith('code-'));
    expect(names).toHaveLength(1);
    return join(state, names[0] as string);
  };
  return { files, state, run, kept };
}

type Sum = { sum(a: number, b: number): number; url: string };

test('a bundle runs with and without a folder', () => {
  const { run, files } = world();
  const { sum, url } = run().exports as Sum;
  expect([sum(1, 2), url]).toEqual([3, `file://${files.at('bundle.cjs')}`]);
  const without = runBundle(files.at('bundle.cjs'), undefined);
  without.keep();
  expect((without.exports as Sum).sum(1, 2)).toBe(3);
});

test('code is kept once, for its owner alone', () => {
  const { run, kept } = world();
  run().keep();
  const { ino, mode } = statSync(kept());
  expect(mode & 0o777).toBe(0o600);
  const second = run();
  second.keep();
  expect(statSync(kept()).ino).toBe(ino);
  expect((second.exports as Sum).sum(2, 2)).toBe(4);
});

test.each<[string, (file: string) => void]>([
  ['cut off', (file) => writeFileSync(file, readFileSync(file).subarray(0, -1))],
  ['empty', (file) => writeFileSync(file, '')],
  [
    'changed',
    (file) => {
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1] = 255 - (bytes[bytes.length >> 1] as number);
      writeFileSync(file, bytes);
    },
  ],
  ['open to others', (file) => chmodSync(file, 0o644)],
])('code that is %s is compiled and kept again', (_, spoil) => {
  const { run, kept } = world();
  run().keep();
  const whole = readFileSync(kept()).length;
  spoil(kept());
  const again = run();
  expect((again.exports as Sum).sum(1, 1)).toBe(2);
  again.keep();
  const { size, mode } = statSync(kept());
  expect([size > whole / 2, mode & 0o777]).toEqual([true, 0o600]);
});

test('a link is not followed', () => {
  const { run, kept, files } = world();
  run().keep();
  const file = kept();
  const bytes = readFileSync(file);
  writeFileSync(files.at('elsewhere'), bytes, { mode: 0o600 });
  writeFileSync(file, '');
  run().keep();
  expect(readFileSync(file).length).toBeGreaterThan(0);
  const other = world();
  symlinkSync(files.at('elsewhere'), join(other.state, file.slice(file.lastIndexOf('/') + 1)));
  other.run().keep();
  expect(statSync(other.kept()).isFile()).toBe(true);
  expect(readFileSync(files.at('elsewhere')).equals(bytes)).toBe(true);
});

test('another bundle has code of its own', () => {
  const { run, files, state } = world();
  run().keep();
  writeFileSync(files.at('bundle.cjs'), bundle.replace('a + b', 'a - b'));
  const other = run();
  other.keep();
  expect((other.exports as Sum).sum(3, 1)).toBe(2);
  expect(readdirSync(state).filter((name) => name.startsWith('code-'))).toHaveLength(2);
});

test('a folder that cannot be written holds no hook up', () => {
  const { files } = world();
  const running = runBundle(files.at('bundle.cjs'), files.at('nowhere'));
  running.keep();
  expect((running.exports as Sum).sum(1, 2)).toBe(3);
});
