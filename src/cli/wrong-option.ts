/** Words errors about an option that no command has, or that this command does not take. */
import { nearestNames } from '../values/text/names.ts';
import type { Command } from './command.ts';
import { type CliFault, usageFault } from './fault.ts';
import { type OptionName, optionTable } from './option-table.ts';

/** Options of every command. */
export const sharedOptions: readonly OptionName[] = ['verbose', 'json', 'help', 'version'];

const allNames = Object.keys(optionTable) as OptionName[];

/** Names that other programs use for these options. */
const otherNames = new Map<string, OptionName>([
  ['args', 'input'],
  ['arguments', 'input'],
  ['config', 'host-tools'],
  ['data', 'input'],
  ['file', 'host-tools'],
  ['key', 'host-key'],
  ['module', 'host-tools-module'],
  ['origin', 'allowed-origin'],
  ['parallel', 'concurrency'],
  ['params', 'input'],
  ['timeout', 'timeout-ms'],
  ['v', 'version'],
  ['workers', 'concurrency'],
]);

/** What a command uses instead of another command's option. */
const counterparts: Readonly<Record<string, Partial<Record<OptionName, string>>>> = {
  serve: { port: '`--http PORT`', host: '`--http HOST:PORT`' },
  relay: { http: '`--port N`' },
  validate: { 'host-tools': 'the file as a word (`validate FILE`)' },
  'policy test': { input: '`input` in the table' },
};

/**
 * An option that no command has. The suggestion prefers options of this command.
 * @param typed with its dashes
 * @param command the command, if the line names one
 */
export function unknownOption(
  typed: string,
  command: Command | undefined,
  commands: readonly Command[],
): CliFault {
  const name = typed.replace(/^-+/, '');
  const own = command === undefined ? [] : optionsOf(command);
  const meant = otherNames.get(name.toLowerCase());
  const near =
    meant === undefined
      ? [own, allNames].map((names) => nearestNames(name, names)).find(({ length }) => length > 0)
      : [meant];
  const hints = (near ?? []).map((one) => {
    const option = one as OptionName;
    const elsewhere = command === undefined || own.includes(option) ? [] : takers(option, commands);
    return `\`--${one}\`${elsewhere.length === 0 ? '' : ` (an option of ${listed(elsewhere)})`}`;
  });
  const didYouMean = hints.length === 0 ? '' : ` Did you mean ${hints.join(' or ')}?`;
  const help = command === undefined ? '--help' : `help ${command.name}`;
  return usageFault(
    `Unknown option \`${typed}\`.${didYouMean} Run \`host-tools ${help}\` for all options.`,
  );
}

/** Refuses options of other commands. @throws CliFault 2 */
export function checkOptions(
  command: Command,
  given: ReadonlySet<OptionName>,
  commands: readonly Command[],
): void {
  const known = optionsOf(command);
  for (const name of given) {
    if (known.includes(name)) continue;
    const instead = counterparts[command.name]?.[name];
    const remedy = instead === undefined ? '' : ` Give ${instead}.`;
    throw usageFault(
      `\`${command.name}\` takes no \`--${name}\`, which is an option of ` +
        `${listed(takers(name, commands))}.${remedy} Run \`host-tools help ${command.name}\` for ` +
        'its options.',
    );
  }
}

function optionsOf({ options }: Command): readonly OptionName[] {
  return [...options, ...sharedOptions];
}

/** The commands that take an option. */
function takers(option: OptionName, commands: readonly Command[]): string[] {
  return commands.filter(({ options }) => options.includes(option)).map(({ name }) => name);
}

/** `call` and `explain`. */
function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  return quoted.length < 2
    ? quoted.join('')
    : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
}
