/** The secrets of a gateway, each in a private file. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { codeOf } from '../../values/errors/index.ts';
import { privateKey, readPrivateFile } from '../../values/files/private-file.ts';
import { openPrivateFolder, stateFolderOf } from '../../values/files/private-folder.ts';
import { readRegularFile } from '../../values/files/regular-file.ts';
import { replaceFileSync } from '../../values/files/whole-file.ts';
import { isRecord, type OAuthRecord, type OAuthStore } from '../mcp/client/oauth.ts';

// The login to one server, in a file that only its owner can read.

/** The folder of logins. @param stateHome `XDG_STATE_HOME`, if it is set */
export function tokenFolder(stateHome: string | undefined, home: string): string {
  return stateFolderOf('gateway', stateHome, home);
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
      openPrivateFolder(folder, { closed: true, danger: 'put a login of theirs there' });
      replaceFileSync(path, JSON.stringify(record));
    },
  };
}

function readRecord(path: string): OAuthRecord | undefined {
  const doubt = 'so its tokens may be known. Delete it and log in again.';
  const text = readPrivateFile(path, doubt)?.toString('utf8');
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Refused below.
  }
  throw new Error(`Expected \`${path}\` to be a login. Delete it and log in again.`);
}

/** More is no JWT of a platform. */
const longestAssertion = 65_536;

/**
 * Reads the JWT with which a platform vouches for its programs. The platform replaces it from time
 * to time, and says who may read it.
 */
export function readAssertion(path: string, told: (secret: string) => void): () => Promise<string> {
  return async () => {
    const fault = (got: string): Error =>
      new Error(`Expected \`${path}\` (\`assertionFile\`) to be a file with a JWT, got ${got}.`);
    const found = await readRegularFile(path, longestAssertion).catch((error: unknown) => {
      const code = codeOf(error);
      throw fault(code === 'ENOENT' ? 'no file' : String(code));
    });
    if (found === undefined) throw fault('something else');
    if (found.length > longestAssertion) throw fault('a longer text');
    const text = found.toString('latin1').trim();
    if (!/^[\w-]+(?:\.[\w-]*)+$/.test(text)) throw fault('another text');
    told(text);
    return text;
  };
}

/**
 * The key in the file `secret` of a folder. It is created if there is none.
 * @throws Error if others can use the file, or if it has something else in it
 */
export function approvalSecret(folder: string): Buffer {
  return privateKey(
    join(folder, 'secret'),
    'Delete it and start again. Calls that wait for approval can then not be answered',
  );
}
