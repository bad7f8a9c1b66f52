/** Help, made from the tables of commands and options, and errors about wrong options. */

import { nearestNames } from '../values/text/names.ts';
import { type Command, worldOptions } from './command.ts';
import { type CliFault, exitCodes, usageFault } from './fault.ts';
import { type OptionName, optionTable } from './option-table.ts';
import { columns } from './printable.ts';

/** The help of the program: every command, and the options that most of them share. */
export function generalHelp(commands: readonly Command[]): string {
  return [
    'Usage: host-tools COMMAND [options]',
    '',
    'Commands:',
    ...commandLines(commands),
    '',
    'Options of most commands:',
    ...optionLines([...worldOptions, ...sharedOptions]),
    '',
    'Exit codes:',
    ...columns(Object.entries(exitCodes), '  '),
    '',
    'Run `host-tools help COMMAND` for the details and all options of one command.',
  ].join('\n');
}

/** The help of commands that begin with the same word, such as `gateway`. */
export function groupHelp(word: string, group: readonly Command[]): string {
  return [
    `Usage: host-tools ${word} COMMAND [options]`,
    '',
    'Commands:',
    ...commandLines(group),
    '',
    `Run \`host-tools help ${group[0]?.name ?? word}\` for the details of one command.`,
  ].join('\n');
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  return [
    `Usage: host-tools ${usageOf(command)}`,
    '',
    `${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`,
    ...command.notes,
    '',
    'Options:',
    ...optionLines([...command.options, ...sharedOptions], command.wording),
  ].join('\n');
}

/** The help of the program as data. */
export function generalHelpJson(commands: readonly Command[]): object {
  return {
    commands: commands.map(({ name, usage, summary }) => ({ name, usage, summary })),
    options: (Object.keys(optionTable) as OptionName[]).map(optionJson),
    exitCodes,
  };
}

/** The help of one command as data. */
export function commandHelpJson({
  name,
  usage,
  summary,
  notes,
  options,
  wording = {},
}: Command): object {
  const all = [...options, ...sharedOptions];
  return {
    name,
    usage,
    summary,
    notes,
    options: all.map((option) => ({ ...optionJson(option), ...wording[option] })),
  };
}

function optionJson(name: OptionName): object {
  return { name, ...optionTable[name] };
}

function commandLines(commands: readonly Command[]): string[] {
  return columns(
    commands.map(({ name, operands, many = false, summary }) => [
      `${[name, ...operands].join(' ')}${many ? '...' : ''}`,
      summary,
    ]),
    '  ',
  );
}

/** The command's name with its usage. */
export function usageOf({ name, usage }: Command): string {
  return usage === '' ? name : `${name} ${usage}`;
}

function optionLines(names: readonly OptionName[], wording: Command['wording'] = {}): string[] {
  return columns(
    names.map((name) => {
      const row: { readonly value?: string; readonly short?: string; readonly help: string } =
        wording[name] ?? optionTable[name];
      return [
        (row.short === undefined ? '    ' : `-${row.short}, `) +
          `--${name}${row.value === undefined ? '' : ` ${row.value}`}`,
        row.help,
      ];
    }),
    '  ',
  );
}

// Words errors about an option that no command has, or that this command does not take.

/** Options of every command. */
const sharedOptions: readonly OptionName[] = ['verbose', 'json', 'help', 'version'];

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
