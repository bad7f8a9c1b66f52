/** The parser of command lines, which is optional. */
import { packageFault } from '../../../values/packages/missing-package.ts';

export type ShellParser = Pick<typeof import('unbash'), 'parse' | 'forEachChild'>;

/** Loads the parser. @throws MisuseError `missing_dependency` */
export async function shellParser(
  importParser: () => Promise<ShellParser> = () => import('unbash'),
): Promise<ShellParser> {
  try {
    return await importParser();
  } catch (error) {
    throw packageFault('unbash', 'reads command lines', error);
  }
}

/** The words of everything that may be a command, in a text that the parser does not understand. */
export function roughCommands(text: string): readonly (readonly string[])[] {
  return text.split(/[\n;|&(){}<>`]+/).map((part) => {
    const words = part.replace(/["'\\]/g, '').split(/\s+/);
    return words.filter((word) => word !== '');
  });
}
