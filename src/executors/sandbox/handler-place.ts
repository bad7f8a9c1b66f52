/** The place of a sandbox's handler: a module and one of its exports. */
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, MisuseError, messageOf } from '../../values/errors/index.ts';

/** A module that exists. */
export interface HandlerPlace {
  /** The path of the file. */
  readonly file: string;
  /** The URL of the file, for `import`. */
  readonly address: string;
}

/** @throws MisuseError `invalid_option` if it is not a file. */
export function handlerPlace(where: string, module: unknown): HandlerPlace {
  const file = fileOf(where, module);
  let isFile: boolean;
  try {
    isFile = statSync(file).isFile();
  } catch (error) {
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`module\` to be a file that exists, got \`${file}\`: ` +
        `${messageOf(error)}.`,
    );
  }
  if (isFile) return { file, address: pathToFileURL(file).href };
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`module\` to be a file, got \`${file}\`, which is not one.`,
  );
}

function fileOf(where: string, module: unknown): string {
  const isUrl = module instanceof URL;
  if (isUrl || (typeof module === 'string' && module.startsWith('file:'))) {
    try {
      return fileURLToPath(module);
    } catch (error) {
      throw new MisuseError(
        'invalid_option',
        `${where}: expected \`module\` to be the address of a file, got ${String(module)}: ` +
          `${messageOf(error)}.`,
      );
    }
  }
  if (typeof module === 'string' && isAbsolute(module)) return module;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`module\` to be a \`file:\` URL or an absolute path, got ` +
      `${describe(module)}. Use \`new URL('./handler.js', import.meta.url)\`.`,
  );
}
