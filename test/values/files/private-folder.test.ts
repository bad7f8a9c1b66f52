/** One check for every folder that is kept for one user. */
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { stateFolder } from '../../../src/surfaces/agents/hooks.ts';
import { fileApprovals } from '../../../src/surfaces/approvals/index.ts';
import { tokenFile } from '../../../src/surfaces/gateway/secret-files.ts';
import { fileOffload } from '../../../src/surfaces/offload/index.ts';

const isWindows = process.platform === 'win32';
const isRoot = process.getuid?.() === 0;
const stranger = 12_345;

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'private-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Everything that keeps a folder for one user; each gets the folder `state/host-tools/hook`. */
const users: readonly (readonly [name: string, open: (folder: string) => unknown])[] = [
  ['fileApprovals', (dir) => fileApprovals({ dir })],
  ['fileOffload', (dir) => fileOffload({ dir })],
  ['logins of a gateway', (dir) => tokenFile(dir, 'mail', 'https://a.test').write({} as never)],
  ['the state of hooks', () => stateFolder({ stateHome: join(root, 'state'), home: root })],
];
const folder = (): string => join(root, 'state/host-tools/hook');

/** Why a folder is refused; `""` if it is not. */
async function refusal(open: (folder: string) => unknown): Promise<string> {
  try {
    await open(folder());
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe.skipIf(isWindows).each(users)('%s', (_, open) => {
  test('makes the folder for its owner only', async () => {
    expect(await refusal(open)).toBe('');
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
  });

  test.each([0o720, 0o702, 0o770, 0o777, 0o1777])('refuses mode %o', async (mode) => {
    mkdirSync(folder(), { recursive: true });
    chmodSync(folder(), mode);
    expect(await refusal(open)).toContain('Run `chmod 700` on it');
  });

  test('refuses the folder of another user', async () => {
    mkdirSync(folder(), { recursive: true, mode: 0o700 });
    chmodSync(folder(), 0o755);
    if (isRoot) chownSync(folder(), stranger, stranger);
    else vi.spyOn(process, 'getuid').mockReturnValue(stranger);
    expect(await refusal(open)).toContain('of the user of this process, ');
  });

  test.skipIf(!isRoot)('refuses a link of another user to an own folder', async () => {
    mkdirSync(join(root, 'own'), { mode: 0o700 });
    mkdirSync(join(root, 'state/host-tools'), { recursive: true });
    symlinkSync(join(root, 'own'), folder());
    expect(await refusal(open)).toBe('');
    lchownSync(folder(), stranger, stranger);
    expect(await refusal(open)).toContain(`got one of user ${stranger}, who can `);
  });

  test.each(['state', 'state/host-tools'])(
    'refuses a folder in %s if everyone can write there, unless it is sticky',
    async (above) => {
      expect(await refusal(open)).toBe('');
      chmodSync(join(root, above), 0o777);
      expect(await refusal(open)).toContain(
        `others can write to ${join(root, above)}. Run \`chmod o-w\` on it.`,
      );
      chmodSync(join(root, above), 0o1777);
      expect(await refusal(open)).toBe('');
    },
  );

  test('refuses a link to a folder in one that everyone can write to', async () => {
    mkdirSync(join(root, 'open/own'), { recursive: true, mode: 0o700 });
    chmodSync(join(root, 'open'), 0o777);
    mkdirSync(join(root, 'state/host-tools'), { recursive: true });
    symlinkSync(join(root, 'open/own'), folder());
    expect(await refusal(open)).toContain(`others can write to ${join(root, 'open')}`);
  });

  test('refuses a file', async () => {
    mkdirSync(join(root, 'state/host-tools'), { recursive: true });
    writeFileSync(folder(), '');
    expect(await refusal(open)).toContain('to be a folder.');
  });
});
