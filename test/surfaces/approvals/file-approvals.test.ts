/** Suspended calls in files. */
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileApprovals, memoryApprovals } from '../../../src/surfaces/approvals/index.ts';
import { suspending, suspendOne, why } from '../../core/approval/kit.ts';
import { approvalRules } from '../../stores/shared/approval-rules.ts';

let home: string;
let dir: string;
let places = 0;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'approvals-'));
  dir = join(home, 'deep', 'store');
});
afterEach(() => rm(home, { recursive: true, force: true }));

const files = async (): Promise<string[]> =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

describe.each([
  ['fileApprovals', () => fileApprovals({ dir: join(home, `store-${++places}`) })],
  ['memoryApprovals', () => memoryApprovals()],
])('%s keeps approvals', (_, make) => {
  for (const rule of approvalRules(make)) test(rule.name, rule.run);
});

test('a call is resumed once, even if its record is put back', async () => {
  const make = () => suspending({ store: fileApprovals({ dir }), registry: { now: Date.now } });
  const [first, second] = [make(), make()];
  const { token } = await suspendOne(first);
  const [file = ''] = await files();
  await copyFile(file, join(home, 'copy'));
  expect((await first.session.approvals.resume(token, 'allow_once')).success).toBe(true);
  await copyFile(join(home, 'copy'), file);
  expect(await second.session.approvals.pending()).toEqual([]);
  expect(why(await second.session.approvals.resume(token, 'allow_once'))).toEqual([
    'approval_denied',
    'token_used',
  ]);
  expect([...first.runs, ...second.runs]).toHaveLength(1);
});

test('what was answered has neither token nor arguments any more', async () => {
  const made = suspending({ store: fileApprovals({ dir }), registry: { now: Date.now } });
  const { token } = await suspendOne(made, { amount: 5, to: 'somebody' });
  await made.session.approvals.resume(token, 'reject_once');
  for (const file of await files())
    expect(await readFile(file, 'utf8')).not.toMatch(/somebody|token/);
});

test('options of memoryApprovals are named if they are wrong', () => {
  expect(() => memoryApprovals({ clock: Date.now } as never)).toThrow(
    'memoryApprovals: unknown option `clock`',
  );
});
