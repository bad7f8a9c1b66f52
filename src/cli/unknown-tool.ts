/** What the command line says of names that no tool has. */
import { nearestNames } from '../values/text/names.ts';
import { meant, type Options } from './options.ts';

/** The message for an unknown name, with the name that was probably meant. */
export function unknownTool(
  name: string,
  known: readonly string[],
  hint: string | undefined,
): string {
  const text =
    `Unknown tool \`${name}\`. ${meant(name, known)}Run \`host-tools list\` with the same ` +
    'options for all tools.';
  return hint === undefined ? text : `${text} ${hint}`;
}

/** What to do about names that are like no known one. Undefined if a module was given. */
export function codeHint(
  names: readonly string[],
  known: readonly string[],
  sources: Options['sources'],
): string | undefined {
  return sources.some(({ kind }) => kind === 'module') ||
    names.every((name) => nearestNames(name, known).length > 0)
    ? undefined
    : 'If your code defines it, give its module with `--host-tools-module MOD`.';
}
