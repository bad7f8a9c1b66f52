/** The page about keeping an audit tells what each thing means that verifying can find. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './pages.ts';

test('each reason of `verifyAudit` is in the table, and no other', () => {
  const page = readFileSync(join(root, 'docs/keep-an-audit.md'), 'utf8');
  const [, table = ''] = page.split('| `reason` | what it can mean | what to do |');
  const told = [...table.matchAll(/^\| (`+)(.+?)\1 \|/gm)].map((match) => match[2] as string);
  const source = readFileSync(join(root, 'src/surfaces/audit/verify-audit.ts'), 'utf8');
  const [, faults = ''] = source.split('export function createCheck');
  const given = [...faults.matchAll(/(?:return|\?|:|reason:)\s+\(?\s*'((?:the|this) [^']+)'/g)].map(
    (match) => match[1] as string,
  );
  expect(given.length).toBe(told.length);
  for (const reason of given)
    expect(
      told.filter((beginning) => reason.startsWith(beginning)),
      reason,
    ).toHaveLength(1);
});
