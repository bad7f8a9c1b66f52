/** The key of kept approvals: one for all processes, and readable by its owner only. */
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { approvalSecret } from '../../../src/surfaces/gateway/secret-files.ts';
import { program } from '../../runner/programs.ts';
import { folder } from '../config/folder.ts';

test('it is made once, and readable by its owner only', () => {
  const { path } = folder({});
  const secret = approvalSecret(path);
  expect(secret).toHaveLength(32);
  expect(approvalSecret(path)).toEqual(secret);
  expect(statSync(join(path, 'secret')).mode & 0o777).toBe(0o600);
  expect(readdirSync(path)).toEqual(['secret']);
});

test('of several that make it at the same time, all get the same', async () => {
  const { path } = folder({});
  const module = program('src/surfaces/gateway/secret-files.ts');
  const code =
    `import(${JSON.stringify(`file://${module}`)}).then(({ approvalSecret }) => require(` +
    `'node:worker_threads').parentPort.postMessage(approvalSecret(${JSON.stringify(path)})` +
    `.toString('hex')))`;
  const made = await Promise.all(
    Array.from(
      { length: 4 },
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker(code, { eval: true });
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
    ),
  );
  expect(new Set(made).size).toBe(1);
  expect(made[0]).toBe(approvalSecret(path).toString('hex'));
});

test('one that others can use is refused', () => {
  const { path } = folder({});
  approvalSecret(path);
  chmodSync(join(path, 'secret'), 0o640);
  expect(() => approvalSecret(path)).toThrow(
    `others than its owner can use \`${join(path, 'secret')}\` (mode 0640)`,
  );
});

test.each([
  ['an empty file', ''],
  ['a short one', 'ab'.repeat(31)],
  ['one with something behind it', `${'ab'.repeat(32)}\nmore`],
])('%s is refused, and stays as it is', (_, text) => {
  const { path } = folder({});
  writeFileSync(join(path, 'secret'), text, { mode: 0o600 });
  expect(() => approvalSecret(path)).toThrow('to have 64 hex digits');
  expect(readFileSync(join(path, 'secret'), 'utf8')).toBe(text);
});

test('a link is not followed', () => {
  const { path } = folder({});
  const other = folder({});
  approvalSecret(other.path);
  symlinkSync(join(other.path, 'secret'), join(path, 'secret'));
  expect(() => approvalSecret(path)).toThrow('ELOOP');
});
