/** Tells modules from host-tools files by their endings. */
import { extname } from 'node:path';

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
