/** How the command line reads what `--host-tools` and `--host-tools-module` name. */
import { extname, isAbsolute, resolve } from 'node:path';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure, usageFault } from './fault.ts';
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

// Tells modules from host-tools files by their endings.

/** Endings of modules. */
export const moduleEndings: readonly string[] = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];
/** Endings of files of tools, profiles and rules. */
export const configEndings: readonly string[] = ['.yaml', '.yml', '.json'];

/** The kind of a file by its ending; undefined for other endings. */
export function kindOfFile(path: string): 'file' | 'module' | undefined {
  const ending = extname(path).toLowerCase();
  return moduleEndings.includes(ending)
    ? 'module'
    : configEndings.includes(ending)
      ? 'file'
      : undefined;
}

/** The option that takes a file of each kind. */
export const optionOf = { file: '--host-tools', module: '--host-tools-module' } as const;
