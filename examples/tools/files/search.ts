import { type Folder, listFolder, openFolder, PathRefused } from './confined.ts';
import { readBytes } from './contents.ts';
import { decodeText } from './text.ts';

export interface SearchQuery {
  readonly text: string;
  readonly ignoreCase: boolean;
}

export interface SearchBounds {
  readonly maxMatches: number;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly skip: ReadonlySet<string>;
  readonly signal?: AbortSignal;
}

/** `complete` is false where a bound ended the search; `skipped` counts binary and large files. */
export interface SearchOutcome {
  readonly matches: readonly {
    readonly path: string;
    readonly line: number;
    readonly text: string;
  }[];
  readonly searched: number;
  readonly skipped: number;
  readonly complete: boolean;
}

const MAX_DEPTH = 32;
const MAX_LINE_CHARS = 200;

/**
 * Searches the folder `name` inside `folder`, in the order of names. Links are not followed: only
 * regular files and real folders are opened.
 */
export async function searchFolder(
  folder: Folder,
  name: string,
  { text, ignoreCase }: SearchQuery,
  bounds: SearchBounds,
): Promise<SearchOutcome> {
  const fold = (line: string) => (ignoreCase ? line.toLowerCase() : line);
  const wanted = fold(text);
  const matches: { path: string; line: number; text: string }[] = [];
  const state = { searched: 0, skipped: 0, complete: true };

  const searchFile = async (parent: Folder, file: string, path: string) => {
    const { bytes, more } = await readBytes(parent, file, bounds.maxFileBytes);
    const content = more ? undefined : decodeText(bytes);
    if (content === undefined) state.skipped += 1;
    for (const [index, line] of (content?.split('\n') ?? []).entries()) {
      if (!fold(line).includes(wanted)) continue;
      if (matches.length === bounds.maxMatches) {
        state.complete = false;
        return;
      }
      matches.push({ path, line: index + 1, text: line.trim().slice(0, MAX_LINE_CHARS) });
    }
  };

  const walk = async (
    parent: Folder,
    part: string,
    prefix: string,
    depth: number,
  ): Promise<void> => {
    const here = await openFolder(parent, part);
    try {
      for (const entry of await listFolder(here)) {
        bounds.signal?.throwIfAborted();
        const path = `${prefix}${entry.name}`;
        if (entry.isDirectory() && !bounds.skip.has(entry.name)) {
          if (depth === MAX_DEPTH) state.complete = false;
          else await passOver(walk(here, entry.name, `${path}/`, depth + 1));
        } else if (entry.isFile()) {
          if (state.searched === bounds.maxFiles) state.complete = false;
          if (!state.complete) return;
          state.searched += 1;
          await passOver(searchFile(here, entry.name, path));
        }
      }
    } finally {
      await here.handle.close();
    }
  };

  await walk(folder, name, '', 0);
  return { matches, ...state };
}

/** What became a link, vanished or may not be read between listing and opening is passed over. */
async function passOver(step: Promise<void>): Promise<void> {
  await step.catch((error) => {
    if (!(error instanceof PathRefused)) throw error;
  });
}
