/** Reads the options of a command line. */
import { parseArgs } from 'node:util';
import type { Effect } from '../core.ts';
import { longestTimerMs } from '../values/options/index.ts';
import { didYouMean, nearestNames } from '../values/text/names.ts';
import { usageFault } from './fault.ts';
import { type OptionName, type OptionRow, optionTable } from './option-table.ts';

/** A file or module to load, in the order of the command line. */
export interface Source {
  readonly kind: 'file' | 'module';
  /** The path or package, as given. */
  readonly name: string;
}

/** Where a server listens, and whom it lets in. */
export interface ListenOptions {
  /** `port`, or `host:port`. */
  readonly http: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
  /** Those of `--allowed-origin`, then those of `--allow-origin`. */
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  /** The number of proxies. */
  readonly trustProxy: number | undefined;
  readonly maxConnections: number | undefined;
  readonly metrics: boolean;
}

/** Tokens that a server asks of its clients, and the client with which one logs in elsewhere. */
export interface OAuthOptions {
  /** Who issues the tokens. */
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly jwksUrl: string | undefined;
  /** Separated by commas. */
  readonly scopes: string | undefined;
  readonly clientId: string | undefined;
  /** The name of an environment variable. */
  readonly clientSecret: string | undefined;
}

export interface RelayOptions {
  /** The name of an environment variable. */
  readonly hostKey: string | undefined;
  /** Seconds. */
  readonly ttl: number | undefined;
  readonly maxTtl: number | undefined;
  /** Milliseconds. */
  readonly lease: number | undefined;
  /** Milliseconds. */
  readonly requestTimeout: number | undefined;
  /** `NAME=N`. */
  readonly limits: readonly string[];
  readonly pairing: boolean;
}

/** An MCP server, and the file that pins its tools. */
export interface McpOptions {
  /** A path. */
  readonly pins: string | undefined;
  readonly pin: boolean;
  /** Names of tools. */
  readonly accept: readonly string[];
  readonly yes: boolean;
  readonly prefix: string | undefined;
  /** Names of environment variables. */
  readonly env: readonly string[];
  /** `NAME=VARIABLE`. */
  readonly header: readonly string[];
}

/** The values of the options, grouped by what they are about. */
export interface Options {
  readonly sources: readonly Source[];
  /** The session in which a command calls tools. */
  readonly session: {
    readonly profile: string | undefined;
    /** JSON text, `@file` or `-`. */
    readonly facts: string | undefined;
    readonly principal: string | undefined;
  };
  /** JSON text, `@file` or `-`. */
  readonly input: string | undefined;
  /** JSON text, `@file` or `-`. */
  readonly config: string | undefined;
  /** Milliseconds. */
  readonly timeoutMs: number | undefined;
  /** A path. */
  readonly audit: string | undefined;
  readonly listen: ListenOptions;
  readonly oauth: OAuthOptions;
  readonly allowCalls: boolean;
  /** A `redis:` or `rediss:` URL. */
  readonly redis: string | undefined;
  /** The address of a store, or the name of a variable that has one. */
  readonly store: string | undefined;
  readonly worker: {
    /** The name of a queue. */
    readonly queue: string | undefined;
    readonly concurrency: number | undefined;
  };
  readonly relay: RelayOptions;
  readonly mcp: McpOptions;
  /** An audit log that is read. */
  readonly log: {
    /** Each of 64 hex digits. */
    readonly heads: readonly string[];
    /** A path. */
    readonly keyFile: string | undefined;
    /** A path. */
    readonly html: string | undefined;
  };
  /** False with `--no-calls`. */
  readonly calls: boolean;
  /** A path. */
  readonly rules: string | undefined;
  readonly print: boolean;
  readonly cancelUnasked: boolean;
  /** Tests and backtests of rules. */
  readonly policy: {
    /** A path, or `-`. */
    readonly from: string | undefined;
    readonly failOn: Effect | undefined;
    readonly coverage: boolean;
    /** Per cent. */
    readonly failUnder: number | undefined;
  };
  /** The most tools of a search. */
  readonly top: number | undefined;
  readonly output: { readonly verbose: boolean; readonly json: boolean };
  readonly help: boolean;
  readonly version: boolean;
}

/** A file that a command reads or writes. */
export interface FileUse {
  /** What names it, for messages: `` `--html` ``. */
  readonly name: string;
  /** As given. */
  readonly path: string;
  readonly use: NonNullable<OptionRow['file']>;
}

/** A command line, split into words and options. */
export interface ParsedLine {
  readonly words: readonly string[];
  /** The files of the options. */
  readonly files: readonly FileUse[];
  readonly options: Options;
  /** The options that were given. */
  readonly given: ReadonlySet<OptionName>;
  /** The first option that no command has, as it was typed. Nothing after it was read. */
  readonly unknown?: string | undefined;
}

const effects: readonly Effect[] = ['allow', 'ask', 'deny'];
const rows = new Map<string, OptionRow>(Object.entries(optionTable));

/**
 * Reads options and words.
 * @throws CliFault 2 for a missing value, a value for a switch, a number out of range or an option
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
  const files: FileUse[] = [];
  let unknown: string | undefined;
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option' || unknown !== undefined) continue;
    const row = rows.get(token.name);
    if (row === undefined) {
      // The parser splits `-profile` into `-p -r -o …`.
      unknown = token.rawName.startsWith('--')
        ? token.rawName
        : (argv[token.index]?.split('=', 1)[0] ?? token.rawName);
      continue;
    }
    const name = token.name as OptionName;
    checkValue(name, row, token);
    const { value = '' } = token;
    if (row.file !== undefined)
      files.push({ name: `\`--${name}\``, path: value.replace(/^@/, ''), use: row.file });
    // The other stores are no files.
    if (name === 'store' && value.startsWith('sqlite:'))
      files.push({ name: '`--store`', path: value.slice('sqlite:'.length), use: 'read' });
    if (name === 'host-tools' || name === 'host-tools-module')
      sources.push({ kind: name === 'host-tools' ? 'file' : 'module', name: value });
    else if (row.repeatable === true) lists.set(name, [...(lists.get(name) ?? []), value]);
    else if (values.has(name) && row.value !== undefined)
      throw usageFault(`\`--${name}\` was given twice. Give it once.`);
    values.set(name, value);
  }
  return {
    words,
    files,
    given: new Set(values.keys()),
    unknown,
    options: optionsOf(values, lists, sources),
  };
}

/** Longer than 60 lines, since it is a flat table with a line for each option. */
function optionsOf(
  values: ReadonlyMap<OptionName, string>,
  lists: ReadonlyMap<OptionName, readonly string[]>,
  sources: readonly Source[],
): Options {
  /** The value after `=`, or `alone` for the switch alone. */
  const given = (name: OptionName, alone: string): string | undefined =>
    values.get(name) === '' ? alone : values.get(name);
  return {
    sources,
    session: {
      profile: values.get('profile'),
      facts: values.get('facts'),
      principal: values.get('principal'),
    },
    input: values.get('input'),
    config: values.get('config'),
    timeoutMs: readNumber('timeout-ms', values.get('timeout-ms'), 1, longestTimerMs),
    audit: values.get('audit'),
    listen: {
      http: values.get('http'),
      port: readNumber('port', values.get('port'), 0, 65_535),
      host: values.get('host'),
      allowedOrigins: [
        ...(lists.get('allowed-origin') ?? []),
        ...(lists.get('allow-origin') ?? []),
      ],
      allowedHosts: lists.get('allowed-host') ?? [],
      // The switch alone means one proxy.
      trustProxy: readNumber('trust-proxy', given('trust-proxy', '1'), 1, 16),
      maxConnections: readNumber(
        'max-connections',
        values.get('max-connections'),
        1,
        longestTimerMs,
      ),
      metrics: values.has('metrics'),
    },
    oauth: {
      issuer: values.get('issuer'),
      audience: values.get('audience'),
      jwksUrl: values.get('jwks-url'),
      scopes: values.get('scopes'),
      clientId: values.get('client-id'),
      clientSecret: values.get('client-secret'),
    },
    allowCalls: values.has('allow-calls'),
    redis: values.get('redis'),
    store: values.get('store'),
    worker: {
      queue: values.get('queue'),
      concurrency: readNumber('concurrency', values.get('concurrency'), 1, 10_000),
    },
    relay: {
      hostKey: values.get('host-key'),
      ttl: readNumber('ttl', values.get('ttl'), 1, 2_000_000),
      maxTtl: readNumber('max-ttl', values.get('max-ttl'), 1, 2_000_000),
      lease: readNumber('lease', values.get('lease'), 1, longestTimerMs),
      requestTimeout: readNumber(
        'request-timeout',
        values.get('request-timeout'),
        1,
        longestTimerMs,
      ),
      limits: lists.get('limit') ?? [],
      pairing: values.has('pairing'),
    },
    mcp: {
      pins: values.get('pins'),
      pin: values.has('pin'),
      accept: lists.get('accept') ?? [],
      yes: values.has('yes'),
      prefix: values.get('prefix'),
      env: lists.get('env') ?? [],
      header: lists.get('header') ?? [],
    },
    log: {
      heads: lists.get('head') ?? [],
      keyFile: values.get('key-file'),
      html: values.get('html'),
    },
    calls: !values.has('no-calls'),
    rules: values.get('rules'),
    print: values.has('print'),
    cancelUnasked: values.has('cancel-unasked'),
    policy: {
      from: values.get('from'),
      failOn: readEffect('fail-on', values.get('fail-on')),
      coverage: values.has('coverage'),
      failUnder: readNumber('fail-under', values.get('fail-under'), 0, 100),
    },
    top: readNumber('top', values.get('top'), 1, 100),
    output: {
      verbose: values.has('verbose'),
      json: values.has('json'),
    },
    help: values.has('help'),
    version: values.has('version'),
  };
}

/** `Did you mean …? `, or nothing. */
export function meant(name: string, known: Iterable<string>): string {
  const hint = didYouMean(nearestNames(name, known));
  return hint === '' ? '' : `${hint.slice(1)} `;
}

/** @throws CliFault 2 */
function checkValue(
  name: OptionName,
  row: OptionRow,
  {
    value,
    inlineValue,
  }: { readonly value?: string | undefined; readonly inlineValue?: boolean | undefined },
): void {
  if (row.value === undefined) {
    if (value === '' && row.optionalValue === true)
      throw usageFault(`\`--${name}=\` has no value. Give \`--${name}=N\`, or leave \`=\` out.`);
    if (value !== undefined && row.optionalValue !== true)
      throw usageFault(`\`--${name}\` takes no value. Remove \`=${value}\`.`);
    return;
  }
  const isOption = inlineValue === false && value?.startsWith('--') === true;
  if (value !== undefined && value !== '' && !isOption) return;
  const remedy = isOption ? `. A value that starts with dashes is written \`--${name}=…\`` : '';
  throw usageFault(`\`--${name}\` needs a value: \`--${name} ${row.value}\`${remedy}.`);
}

function readEffect(name: OptionName, text: string | undefined): Effect | undefined {
  if (text === undefined) return undefined;
  const effect = effects.find((one) => one === text);
  if (effect !== undefined) return effect;
  throw usageFault(
    `Expected \`--${name}\` to be allow, ask or deny, got \`${text.slice(0, 60)}\`.`,
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
