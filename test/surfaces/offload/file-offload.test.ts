/** Offloaded outputs in files. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fileOffload } from '../../../src/surfaces/offload/index.ts';
import { outputRules, outputsIn } from '../../stores/shared/output-rules.ts';

const root = mkdtempSync(join(tmpdir(), 'host-tools-offload-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const fresh = (): string => join(root, String(++folders));
const output = { session: 's', text: 'text', about: 'a', maxBytes: 1_000, ttlMs: 60_000 };

describe('fileOffload keeps outputs', () => {
  for (const rule of outputRules(() => fileOffload({ dir: fresh() }))) test(rule.name, rule.run);
});

test('another process that has the folder reads what was kept', async () => {
  const dir = fresh();
  await outputsIn(fileOffload({ dir })).put({ ...output, key: 'k' });
  expect(await outputsIn(fileOffload({ dir })).get('s', 'k')).toEqual({ text: 'text', about: 'a' });
});

test.skipIf(process.platform === 'win32')('a folder that others can write to is refused', () => {
  const dir = mkdtempSync(join(root, 'open-'));
  chmodSync(dir, 0o777);
  expect(() => fileOffload({ dir })).toThrow(
    'fileOffload: expected a `dir` that only its owner can write to, got mode 0777. Whoever can ' +
      'write to it can change what outputs say, and where they came from. Run `chmod 700` on it, ' +
      'or give a folder of its own.',
  );
});

test.each([
  [{}, 'fileOffload: expected `dir` to be'],
  [{ dir: '' }, 'fileOffload: expected `dir` to be'],
  [{ dir: '/x', folder: '/y' }, 'fileOffload: unknown option `folder`'],
])('wrong options are named: %j', (options, message) => {
  expect(() => fileOffload(options as never)).toThrow(message);
});
