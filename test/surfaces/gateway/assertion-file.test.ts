/** The file with which a platform vouches for its programs. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAssertion } from '../../../src/surfaces/gateway/secret-files.ts';
import { folder } from '../config/folder.ts';

const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3b3JrbG9hZCJ9.c2ln';

function reading(text?: string) {
  const { at } = folder({});
  const told: string[] = [];
  const path = at('token');
  if (text !== undefined) writeFileSync(path, text);
  return { path, told, read: readAssertion(path, (secret) => void told.push(secret)) };
}

test('it is read anew for each token, and each of its texts is kept secret', async () => {
  const { path, told, read } = reading(`${jwt}\n`);
  expect(await read()).toBe(jwt);
  writeFileSync(path, `${jwt}2`);
  expect(await read()).toBe(`${jwt}2`);
  expect(told).toEqual([jwt, `${jwt}2`]);
});

test.each([
  ['no file', undefined, 'got no file'],
  ['an empty file', '', 'got another text'],
  ['another text', 'a password', 'got another text'],
  ['a longer text', `${'a'.repeat(70_000)}.b`, 'got a longer text'],
])('%s is refused, and the error shows nothing of it', async (_what, text, said) => {
  const { path, told, read } = reading(text);
  const error = await read().then(
    () => 'read',
    (fault: Error) => fault.message,
  );
  expect(error).toContain(`Expected \`${path}\` (\`assertionFile\`) to be a file with a JWT`);
  expect(error).toContain(said);
  expect(error).not.toContain('password');
  expect(told).toEqual([]);
});

test.runIf(process.platform !== 'win32')('a folder and a pipe are refused at once', async () => {
  const { at } = folder({});
  mkdirSync(at('folder'));
  execFileSync('mkfifo', [at('pipe')]);
  for (const name of ['folder', 'pipe'])
    await expect(readAssertion(join(at('.'), name), () => {})()).rejects.toThrow(
      /got (?:something else|EISDIR)/,
    );
});
