/** The login to one server, in a file that only its owner can read. */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../json/index.ts';
import type { OAuthRecord, OAuthStore } from '../mcp/client/oauth.ts';

/** The folder of logins. @param stateHome `XDG_STATE_HOME`, if it is set */
export function tokenFolder(stateHome: string | undefined, home: string): string {
  const base =
    stateHome !== undefined && isAbsolute(stateHome) ? stateHome : join(home, '.local', 'state');
  return join(base, 'host-tools', 'gateway');
}

/**
 * The login to a server, by its name and address. Someone who changes the address in a file does
 * not get the token of another server.
 */
export function tokenFile(folder: string, name: string, url: string): OAuthStore {
  const about = createHash('sha256')
    .update(JSON.stringify([name, url]))
    .digest('hex');
  const path = join(folder, `login-${about.slice(0, 40)}.json`);
  return {
    read: async () => readRecord(path),
    write: async (record) => {
      makeFolder(folder);
      const draft = join(folder, `${randomUUID()}.draft`);
      const fd = openSync(draft, 'wx', 0o600);
      try {
        writeSync(fd, JSON.stringify(record));
        fsyncSync(fd);
        renameSync(draft, path);
      } finally {
        closeSync(fd);
        rmSync(draft, { force: true });
      }
    },
  };
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(folder);
  const own = process.getuid?.();
  if (own !== undefined && (uid !== own || (mode & 0o077) !== 0))
    throw new Error(
      `Expected \`${folder}\` to be a folder that only its owner can use. Run \`chmod 700\` on it.`,
    );
}

function readRecord(path: string): OAuthRecord | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { uid, mode } = fstatSync(fd);
    const own = process.getuid?.();
    if (own !== undefined && (uid !== own || (mode & 0o077) !== 0))
      throw new Error(
        `Others can use \`${path}\`, so its tokens may be known. Delete it and log in again.`,
      );
    const value: unknown = JSON.parse(readFileSync(fd, 'utf8'));
    if (isJsonObject(value) && typeof (value as JsonObject).redirectUrl === 'string')
      return value as unknown as OAuthRecord;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  } finally {
    closeSync(fd);
  }
  throw new Error(`Expected \`${path}\` to be a login. Delete it and log in again.`);
}
