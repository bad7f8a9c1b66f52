/** One check for every file that only its owner may use. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';
import { approvalSecret, tokenFile } from '../../../src/surfaces/gateway/secret-files.ts';
import { appendPrivateFile, readPrivateFile } from '../../../src/values/files/private-file.ts';

const isRoot = process.getuid?.() === 0;
const stranger = 12_345;

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'private-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Everything that keeps a private file: how it is made and used, and the name of the file. */
const users: readonly (readonly [name: string, file: RegExp, use: () => unknown])[] = [
  ['the key of approvals', /^secret$/, () => approvalSecret(root)],
  [
    'the login to a server',
    /^login-/,
    async () => {
      const store = tokenFile(root, 'mail', 'https://a.test');
      const found = await store.read();
      if (found === undefined) await store.write({ redirectUrl: 'x' });
    },
  ],
  [
    'the key of an audit log',
    /\.key$/,
    () => createAuditLog({ path: join(root, 'log'), content: 'hashed' }).close(),
  ],
  [
    'what hooks append to',
    /^appended$/,
    () => appendPrivateFile(join(root, 'appended'), Buffer.from('x'), 10),
  ],
];

async function refusal(use: () => unknown): Promise<string> {
  try {
    await use();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe.skipIf(process.platform === 'win32').each(users)('%s', (_, name, use) => {
  /** The file, which its user has made. */
  async function made(): Promise<string> {
    expect(await refusal(use)).toBe('');
    return join(root, readdirSync(root).find((one) => name.test(one)) as string);
  }

  test.each([0o640, 0o604, 0o620, 0o602, 0o666])('refuses mode %o', async (mode) => {
    const file = await made();
    chmodSync(file, mode);
    const before = readFileSync(file, 'latin1');
    expect(await refusal(use)).toContain(`others than its owner can use \`${file}\` (mode 0`);
    expect(readFileSync(file, 'latin1')).toBe(before);
  });

  test('refuses the file of another user', async () => {
    const file = await made();
    if (isRoot) chownSync(file, stranger, stranger);
    else {
      // The folder of logins is checked by the same user.
      vi.spyOn(process, 'getuid').mockReturnValue(stranger);
    }
    expect(await refusal(use)).toContain(`\`${file}\` belongs to another user, `);
  });

  test('refuses a link, a folder and a pipe, and waits for none', async () => {
    const file = await made();
    const kept = join(root, 'kept');
    renameSync(file, kept);
    symlinkSync(kept, file);
    expect(await refusal(use)).toContain('ELOOP');
    rmSync(file);
    mkdirSync(file);
    expect(await refusal(use)).toMatch(/EISDIR|to be a regular file/);
    rmSync(file, { recursive: true });
    execFileSync('mkfifo', ['-m', '600', file]);
    expect(await refusal(use)).toMatch(/ENXIO|to be a regular file/);
    rmSync(file);
    linkSync(kept, file);
    expect(await refusal(use)).toBe('');
  });
});

test('a file that is not there has no content', () => {
  expect(readPrivateFile(join(root, 'none'), '')).toBeUndefined();
  expect(() => readPrivateFile(join(root, 'none/none'), '')).not.toThrow();
});

test('a file grows only as far as it may', () => {
  const file = join(root, 'file');
  for (const [text, fits] of [
    ['12345', true],
    ['123456', false],
    ['67890', true],
    ['1', false],
  ] as const)
    expect(appendPrivateFile(file, Buffer.from(text), 10)).toBe(fits);
  expect(readFileSync(file, 'utf8')).toBe('1234567890');
});

test('a key with anything else in its file is no key', () => {
  for (const text of ['', 'x', 'a'.repeat(63), 'A'.repeat(64), `${'a'.repeat(64)}\n\n`]) {
    writeFileSync(join(root, 'secret'), text, { mode: 0o600 });
    expect(() => approvalSecret(root)).toThrow('to have 64 hex digits');
  }
});
