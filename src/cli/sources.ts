/** How the command line reads what `--host-tools` and `--host-tools-module` name. */
import { isAbsolute, resolve } from 'node:path';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure, usageFault } from './fault.ts';
import { kindOfFile, optionOf } from './file-kinds.ts';
import type { Source } from './options.ts';
import { requireFile } from './read-text.ts';

/**
 * Checks that a file or a module's path exists, and that its kind is the one of its option.
 * @throws CliFault
 */
export async function checkSource({ kind, name }: Source, io: CliIo): Promise<void> {
  const looks = kindOfFile(name);
  if (looks !== undefined && looks !== kind && (kind === 'file' || isPath(name)))
    throw usageFault(
      `\`${name}\` is ${looks === 'module' ? 'a module' : 'a YAML or JSON file'}. Give it ` +
        `with \`${optionOf[looks]} ${name}\`.`,
    );
  if (kind === 'file' || isPath(name))
    await requireFile(name, io, kind === 'module').catch((error: unknown) => {
      throw failure(`Cannot read \`${name}\`: ${messageOf(error)}.`);
    });
}

/** A path is resolved from the working directory. Anything else is a package. */
export function moduleOf(name: string, cwd: string): string {
  return isPath(name) ? resolve(cwd, name) : name;
}

function isPath(name: string): boolean {
  return /^\.{1,2}(?:[/\\]|$)/.test(name) || isAbsolute(name);
}
