// What the file tools share: texts of a bounded size, walks that follow no link, and who runs
// beside whom.
import type { Fail, ToolContext } from '../../src/index.ts';
import {
  type Folder,
  inFolderOf,
  listFolder,
  openFolder,
  PathRefused,
} from '../tools/files/confined.ts';
import { readBytes } from '../tools/files/contents.ts';
import { decodeText } from '../tools/files/text.ts';
import { failure, Refused } from './refused.ts';

const MAX_FILE_BYTES = 500_000;
const MAX_DEPTH = 32;

/** Folders that searches do not enter. */
export const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** How many run, and how many ran at most at once. */
export interface Gauge {
  now: number;
  most: number;
}

/** What the host gives the tools. */
export interface HostServices {
  /** Opens the host session: what the other tools wait for holds from then on. Gives its id. */
  openHostSession(): string;
  readonly reads: Gauge;
  readonly writes: Gauge;
}

/** What a handler of these tools is given beside its input. */
export type Context = ToolContext<HostServices>;

/** Does the work of a tool; a refusal is its failure. */
export async function counted<T>(gauge: Gauge, work: () => Promise<T>): Promise<T | Fail> {
  gauge.now += 1;
  gauge.most = Math.max(gauge.most, gauge.now);
  try {
    return await work();
  } catch (error) {
    return failure(error);
  } finally {
    gauge.now -= 1;
  }
}

/**
 * Hands the folder that holds `path` to `use`, opened below the session's folder part by part,
 * without following a link. @throws Refused, PathRefused
 */
export function below<T>(
  { cwd }: Context,
  path: string,
  use: (folder: Folder, name: string) => Promise<T>,
  options?: { create?: boolean },
): Promise<T> {
  // A session without a folder would be one with the process's.
  return cwd === ''
    ? Promise.reject(new Refused('no_root', 'the session has no folder'))
    : inFolderOf(cwd, path, use, options);
}

/** The text of a file. @throws Refused, PathRefused */
export async function readText(folder: Folder, name: string): Promise<string> {
  const { bytes, more } = await readBytes(folder, name, MAX_FILE_BYTES);
  if (more) throw new Refused('file_too_large', `${name} is larger than ${MAX_FILE_BYTES} bytes`);
  const text = decodeText(bytes);
  if (text === undefined) throw new Refused('not_text', `${name} is not text`);
  return text;
}

/** Every regular file below the folder `name`, in the order of names, as its path from there. */
export async function* filesBelow(
  folder: Folder,
  name: string,
  signal: AbortSignal,
  depth = 0,
): AsyncGenerator<string> {
  const here = await openFolder(folder, name);
  try {
    for (const entry of await listFolder(here)) {
      signal.throwIfAborted();
      if (entry.isFile()) yield entry.name;
      else if (entry.isDirectory() && !SKIPPED.has(entry.name) && depth < MAX_DEPTH) {
        try {
          for await (const path of filesBelow(here, entry.name, signal, depth + 1))
            yield `${entry.name}/${path}`;
        } catch (error) {
          // Since it was listed it became a link, or vanished.
          if (!(error instanceof PathRefused)) throw error;
        }
      }
    }
  } finally {
    await here.handle.close();
  }
}
