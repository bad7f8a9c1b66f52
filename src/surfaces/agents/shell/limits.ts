/** How much of a command line is read. */
import { PolicyFault } from '../../../extend.ts';

/**
 * How much is read. No line that an agent writes in earnest is longer. What is beyond could be
 * denied, so a longer line is refused as a whole.
 */
export const most = {
  characters: 1_000_000,
  /** And backticks and here-documents: the parser takes longer for each in another. */
  brackets: 10_000,
  /** Each takes the parser some microseconds. */
  'ends of commands': 100_000,
  /** Each takes some microseconds. */
  parts: 250_000,
  words: 10_000,
  commands: 5_000,
  'characters of commands': 400_000,
  /** On the disk. Each takes some microseconds. */
  paths: 4_000,
  /** Command lines as texts in others. */
  'commands in commands': 64,
  'changes of the folder': 64,
  /** In one word. */
  addresses: 64,
} as const;

/** Refuses a line, which cannot be read as a whole. */
export function tooMany(what: keyof typeof most): PolicyFault {
  return new PolicyFault(
    'command_unreadable',
    `The command line has more than ${most[what]} ${what}. Split it, so that it can be judged.`,
  );
}

/** @throws PolicyFault if the parser would take too long for it */
export function refuseLong(line: string): void {
  if (line.length > most.characters) throw tooMany('characters');
  if (hasMany('({`', most.brackets, line)) throw tooMany('brackets');
  if (hasMany('\n;|&', most['ends of commands'], line)) throw tooMany('ends of commands');
}

/** Whether some characters occur more often than allowed. Here-documents count as brackets. */
function hasMany(characters: string, most: number, line: string): boolean {
  let count = 0;
  for (let at = 0; at < line.length; at++)
    if (characters.includes(line[at] as string) || line.startsWith('<<', at)) {
      if (++count > most) return true;
    }
  return false;
}
