/** The options, and reading them. What is wrong is said with the nearest right name. */
import { parseArgs } from 'node:util';
import { longestTimerMs } from '../options.ts';
import { didYouMean, nearestNames } from '../text/names.ts';
import { usageFault } from './fault.ts';

interface OptionRow {
  /** What stands for the value in help; absent for a switch. */
  readonly value?: string;
  readonly short?: string;
  /** May be given several times. */
  readonly repeatable?: true;
  readonly help: string;
}

/** Every option of every command. */
export const optionTable = {
  'host-tools': {
    value: 'FILE',
    repeatable: true,
    help: 'load tools, profiles and rules from a YAML or JSON file; repeatable',
  },
  'host-tools-module': {
    value: 'MOD',
    repeatable: true,
    help: 'load tools from a module: a path or a package; repeatable',
  },
  profile: { value: 'NAME', help: 'use this profile' },
  facts: {
    value: 'JSON|@FILE|-',
    help: 'facts of the session, such as \'{"hostSession.status":"ready"}\'',
  },
  input: {
    value: 'JSON|@FILE|-',
    help: 'arguments of the call: JSON, a file, or standard input; default {}',
  },
  'timeout-ms': {
    value: 'N',
    help: "end a call after N milliseconds; can only shorten the tool's own timeout",
  },
  http: {
    value: '[HOST:]PORT',
    help: 'serve over HTTP at this address instead of stdio; the host is 127.0.0.1 unless given',
  },
  port: { value: 'N', help: 'listen on this port; default 4040, 0 is any free one' },
  host: { value: 'ADDRESS', help: 'listen on this address; default 127.0.0.1' },
  redis: {
    value: 'URL',
    help: 'keep everything in this Redis, which nodes share; default in memory',
  },
  'host-key': {
    value: 'VARIABLE',
    help: 'demand the key in this variable for new sessions, and answer approvals to who has it',
  },
  'allow-origin': {
    value: 'ORIGIN',
    repeatable: true,
    help: 'let browser pages of this origin in; repeatable',
  },
  pairing: { help: "let a session's code be traded for a token, once a side" },
  pins: { value: 'FILE', help: 'the file of accepted definitions; made where there is none' },
  accept: {
    value: 'NAME',
    repeatable: true,
    help: 'accept this tool as the server gives it now; repeatable',
  },
  yes: { help: 'do not ask about what `--accept` names' },
  prefix: { value: 'TEXT', help: "put this before each of the server's names" },
  env: { value: 'NAME', repeatable: true, help: 'pass this variable on to the server; repeatable' },
  header: {
    value: 'NAME=VARIABLE',
    repeatable: true,
    help: 'send this header with the value of a variable; repeatable',
  },
  'no-calls': { help: 'do not call the tools that are validated' },
  verbose: { help: 'show the stack of what a tool or a module throws, on standard error' },
  json: { help: 'print one JSON document' },
  help: { short: 'h', help: 'show this, or the help of a command' },
  version: { short: 'V', help: 'show the version' },
} as const satisfies Readonly<Record<string, OptionRow>>;

/** An option's name, without its dashes. */
export type OptionName = keyof typeof optionTable;

/** A file or module to load, in the order of the command line. */
export interface Source {
  readonly kind: 'file' | 'module';
  /** As it was given. */
  readonly name: string;
}

/** What the options say. */
export interface Options {
  readonly sources: readonly Source[];
  readonly profile: string | undefined;
  /** JSON text, `@file` or `-`. */
  readonly facts: string | undefined;
  /** JSON text, `@file` or `-`. */
  readonly input: string | undefined;
  /** Milliseconds. */
  readonly timeoutMs: number | undefined;
  /** `port`, or `host:port`. */
  readonly http: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
  /** An address of ioredis. */
  readonly redis: string | undefined;
  /** The name of a variable. */
  readonly hostKey: string | undefined;
  readonly allowOrigin: readonly string[];
  /** `--pairing` is given. */
  readonly pairing: boolean;
  /** A path. */
  readonly pins: string | undefined;
  /** Names of tools. */
  readonly accept: readonly string[];
  /** `--yes` is given. */
  readonly yes: boolean;
  readonly prefix: string | undefined;
  /** Names of variables. */
  readonly env: readonly string[];
  /** `NAME=VARIABLE`. */
  readonly header: readonly string[];
  /** `--no-calls` is not given. */
  readonly calls: boolean;
  /** `--verbose` is given. */
  readonly verbose: boolean;
  readonly json: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/** A command line, read but not yet understood. */
export interface ParsedLine {
  readonly words: readonly string[];
  readonly options: Options;
  /** The options that were given. */
  readonly given: ReadonlySet<OptionName>;
}

const rows = new Map<string, OptionRow>(Object.entries(optionTable));

/**
 * Reads options and words. @throws CliFault 2 for an unknown option, a missing value, an option
 * given twice.
 */
export function parseLine(argv: readonly string[]): ParsedLine {
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      [...rows].map(([name, { value, short }]) => [
        name,
        {
          type: value === undefined ? ('boolean' as const) : ('string' as const),
          ...(short === undefined ? {} : { short }),
        },
      ]),
    ),
  });
  const words: string[] = [];
  const values = new Map<OptionName, string>();
  const lists = new Map<OptionName, readonly string[]>();
  const sources: Source[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const row = rows.get(token.name);
    if (row === undefined) throw unknownOption(token.rawName, token.name);
    const name = token.name as OptionName;
    const { value, inlineValue } = token;
    if (row.value === undefined) {
      if (value !== undefined)
        throw usageFault(`\`--${name}\` takes no value. Leave \`=${value}\` out.`);
    } else if (
      value === undefined ||
      value === '' ||
      (inlineValue === false && value.startsWith('--'))
    ) {
      throw usageFault(
        `\`--${name}\` needs a value: \`--${name} ` +
          `${row.value}\`${value?.startsWith('--') ? `; one that starts with dashes is written \`--${name}=…\`` : ''}.`,
      );
    }
    if (name === 'host-tools' || name === 'host-tools-module')
      sources.push({ kind: name === 'host-tools' ? 'file' : 'module', name: value as string });
    else if (row.repeatable === true)
      lists.set(name, [...(lists.get(name) ?? []), value as string]);
    else if (values.has(name) && row.value !== undefined)
      throw usageFault(`\`--${name}\` was given twice. Give it once.`);
    values.set(name, value ?? '');
  }
  return {
    words,
    given: new Set(values.keys()),
    options: {
      sources,
      profile: values.get('profile'),
      facts: values.get('facts'),
      input: values.get('input'),
      timeoutMs: readNumber('timeout-ms', values.get('timeout-ms'), 1, longestTimerMs),
      http: values.get('http'),
      port: readNumber('port', values.get('port'), 0, 65_535),
      host: values.get('host'),
      redis: values.get('redis'),
      hostKey: values.get('host-key'),
      allowOrigin: lists.get('allow-origin') ?? [],
      pairing: values.has('pairing'),
      pins: values.get('pins'),
      accept: lists.get('accept') ?? [],
      yes: values.has('yes'),
      prefix: values.get('prefix'),
      env: lists.get('env') ?? [],
      header: lists.get('header') ?? [],
      calls: !values.has('no-calls'),
      verbose: values.has('verbose'),
      json: values.has('json'),
      help: values.has('help'),
      version: values.has('version'),
    },
  };
}

/** `Did you mean …? `, or nothing. */
export function meant(name: string, known: Iterable<string>): string {
  const hint = didYouMean(nearestNames(name, known));
  return hint === '' ? '' : `${hint.slice(1)} `;
}

function unknownOption(rawName: string, name: string): Error {
  const hint = didYouMean(nearestNames(name, rows.keys()).map((one) => `--${one}`));
  return usageFault(
    `Unknown option \`${rawName}\`.${hint} Run \`host-tools --help\` for all options.`,
  );
}

function readNumber(
  name: OptionName,
  text: string | undefined,
  least: number,
  most: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (value < least || value > most)
    throw usageFault(
      `Expected \`--${name}\` to be a whole number from ${least} to ${most}, got ` +
        `\`${text.slice(0, 60)}\`.`,
    );
  return value;
}
