/** Which files are modules and which are host-tools files, by their endings. */
import { extname } from 'node:path';

/** Endings of modules. */
export const moduleEndings: readonly string[] = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];
/** Endings of files of tools, profiles and rules. */
export const configEndings: readonly string[] = ['.yaml', '.yml', '.json'];

/** What a path names, as far as its ending tells. */
export function kindOfFile(path: string): 'file' | 'module' | undefined {
  const ending = extname(path).toLowerCase();
  return moduleEndings.includes(ending)
    ? 'module'
    : configEndings.includes(ending)
      ? 'file'
      : undefined;
}

/** The option by which a file of a kind is given. */
export const optionOf = { file: '--host-tools', module: '--host-tools-module' } as const;
