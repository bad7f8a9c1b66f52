/** A folder of files for one test, gone when the test ends. */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { root } from '../../docs/pages.ts';

export interface Folder {
  readonly path: string;
  /** Writes files by their names, objects as JSON; the path of the first. */
  write(files: Readonly<Record<string, unknown>>): string;
  /** Replaces a file as editors do: a new one is renamed into its place. */
  replace(name: string, content: unknown): void;
  at(name: string): string;
}

/** What a module of a test imports to make definitions of the copy under test. */
export const libraryUrl = new URL('../../../src/index.ts', import.meta.url).href;

/** @param later takes the work of removing it; by default it is done when the test ends */
export function folder(
  files: Readonly<Record<string, unknown>> = {},
  later: (remove: () => void) => void = onTestFinished,
): Folder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-config-')));
  later(() => rmSync(path, { recursive: true, force: true }));
  const at = (name: string): string => join(path, name);
  const put = (file: string, content: unknown): void => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      typeof content === 'string' || content instanceof Uint8Array
        ? content
        : JSON.stringify(content, null, 2),
    );
  };
  const made: Folder = {
    path,
    at,
    write(all) {
      for (const [name, content] of Object.entries(all)) put(at(name), content);
      return at(Object.keys(all)[0] ?? '.');
    },
    replace(name, content) {
      put(at(`${name}.new`), content);
      renameSync(at(`${name}.new`), at(name));
    },
  };
  made.write(files);
  return made;
}

export const installed = join(root, 'node_modules');
