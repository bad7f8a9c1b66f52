/** Reads a command line of a POSIX shell, of bash or of zsh. */
import { PolicyFault } from '../../../extend.ts';
import type { Place } from '../place.ts';
import { LineReader } from './line-reader.ts';
import { LineNotes, refuseLong, type ShellFacts } from './shell-facts.ts';
import type { ShellParser } from './shell-parser.ts';

/**
 * What a command line does, as far as it is clear.
 * @param notes Gets what is needed to find out more
 * @param feeds Whether the model can write to the programs of the line while they run
 * @throws PolicyFault `command_unreadable` if it is too long to be read as a whole, which refuses
 * the call: the rest could be what a rule denies
 */
export function shellFacts(
  line: string,
  place: Place,
  parser: ShellParser,
  notes = new LineNotes(),
  feeds = false,
): ShellFacts {
  refuseLong(line);
  try {
    return new LineReader(place, parser, notes, feeds).read(line);
  } catch (error) {
    if (error instanceof PolicyFault) throw error;
    throw new PolicyFault('command_unreadable', 'The command line cannot be read.', {
      cause: error,
    });
  }
}
