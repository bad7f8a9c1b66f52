/** Files of logins: whose they are, and what is refused. */
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tokenFile, tokenFolder } from '../../../src/surfaces/gateway/secret-files.ts';
import { folder } from '../config/folder.ts';

const record = { redirectUrl: 'http://127.0.0.1:1/callback' };
const url = 'https://a.test/mcp';

test('the folder is the state folder of the user', () => {
  expect(tokenFolder('/state', '/home/ann')).toBe('/state/host-tools/gateway');
  expect(tokenFolder(undefined, '/home/ann')).toBe('/home/ann/.local/state/host-tools/gateway');
  // A relative path would depend on where the command was started.
  expect(tokenFolder('state', '/home/ann')).toBe('/home/ann/.local/state/host-tools/gateway');
});

test('a login is found again, under its name and address only', async () => {
  const path = join(folder({}).path, 'new');
  expect(await tokenFile(path, 'mail', url).read()).toBeUndefined();
  await tokenFile(path, 'mail', url).write(record);
  expect(await tokenFile(path, 'mail', url).read()).toEqual(record);
  expect(await tokenFile(path, 'other', url).read()).toBeUndefined();
  expect(await tokenFile(path, 'mail', 'https://evil.test/mcp').read()).toBeUndefined();
  expect(readdirSync(path)).toHaveLength(1);
});

test('a name leads nowhere else', async () => {
  const { path } = folder({});
  chmodSync(path, 0o700);
  await tokenFile(path, '../../etc', url).write(record);
  expect(readdirSync(path)).toEqual([expect.stringMatching(/^login-[0-9a-f]{40}\.json$/)]);
});

test('a folder that others can use gets no tokens', async () => {
  const path = join(folder({}).path, 'open');
  mkdirSync(path);
  chmodSync(path, 0o755);
  await expect(tokenFile(path, 'mail', url).write(record)).rejects.toThrow(
    'to be a folder that only its owner can use',
  );
  expect(readdirSync(path)).toEqual([]);
});

test('a file that others can use, an invalid login, and a link are not trusted', async () => {
  const path = join(folder({}).path, 'new');
  const store = tokenFile(path, 'mail', url);
  await store.write(record);
  const file = join(path, readdirSync(path)[0] ?? '');
  chmodSync(file, 0o604);
  await expect(store.read()).rejects.toThrow('Delete it and log in again.');
  chmodSync(file, 0o600);
  for (const text of ['', '{', '[]', '{}']) {
    writeFileSync(file, text);
    await expect(store.read()).rejects.toThrow(`Expected \`${file}\` to be a login.`);
  }
  const other = tokenFile(path, 'other', url);
  await other.write(record);
  const link = readdirSync(path).find((name) => !file.endsWith(name)) ?? '';
  const linked = tokenFile(join(path, 'linked'), 'other', url);
  await tokenFile(join(path, 'linked'), 'mail', url).write(record);
  symlinkSync(join(path, link), join(path, 'linked', link));
  await expect(linked.read()).rejects.toThrow('ELOOP');
});
