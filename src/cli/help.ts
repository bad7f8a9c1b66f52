/** Help, made from the tables of commands and options. */
import { type Command, worldOptions } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { type OptionName, optionTable } from './option-table.ts';
import { columns } from './printable.ts';
import { sharedOptions } from './wrong-option.ts';

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
