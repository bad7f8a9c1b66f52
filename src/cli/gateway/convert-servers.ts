/** Converts the servers in a client's configuration to servers of a gateway. */

import { cleanLine } from '../../surfaces/shared/outside-text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { own } from './client-files.ts';
import {
  commonEntry,
  type InputVariables,
  inputVariables,
  looksSecret,
  secretArguments,
  secretInAddress,
  variableOf,
} from './common-entry.ts';

/** The result of converting servers. */
export interface Converted {
  /** Servers by name, as a file of tools has them. */
  readonly servers: Readonly<Record<string, JsonObject>>;
  /** Tools that the client does not use, by the names that they have in the gateway. */
  readonly denied: readonly string[];
  /** The variables that must be set, each once. */
  readonly variables: readonly string[];
  /** Notes for a person, one line each. */
  readonly warnings: readonly string[];
}

interface Notes {
  readonly variables: Set<string>;
  readonly warnings: string[];
  readonly denied: string[];
  readonly nameOf: InputVariables;
  readonly isGemini: boolean;
}

/** Keys that a gateway does not need. */
const idle = new Set(['type', 'transport', 'name', 'description', 'disabled', 'enabled']);
const known = new Set([
  ...['command', 'args', 'env', 'cwd', 'url', 'headers', 'tools', 'timeout'],
  ...idle,
]);

/**
 * Converts the servers of one scope.
 * @param isOff whether the client does not use a server
 * @param isGemini whether it is a file of Gemini CLI
 */
export function convertServers(
  section: JsonObject,
  isOff: (name: string) => boolean,
  isGemini: boolean,
): Converted {
  const warnings: string[] = [];
  const nameOf = inputVariables(section, (text) => warnings.push(text));
  const notes: Notes = { variables: new Set(), warnings, denied: [], nameOf, isGemini };
  const servers = Object.entries(section).flatMap(([name, entry]) => {
    const server = convert(name, entry, notes, isOff(name));
    return server === undefined ? [] : [[name, server] as const];
  });
  return {
    servers: Object.fromEntries(servers),
    denied: notes.denied,
    variables: [...notes.variables],
    warnings,
  };
}

function convert(
  name: string,
  given: JsonValue,
  notes: Notes,
  isOff: boolean,
): JsonObject | undefined {
  const warn = (text: string): void => void notes.warnings.push(`\`${name}\`: ${text}`);
  if (cleanLine(name, 64) !== name) {
    warn('it is left out, because its name is not visible text of up to 64 bytes.');
    return undefined;
  }
  if (!isJsonObject(given)) {
    warn('it is left out, because it is not an object.');
    return undefined;
  }
  const { entry, denied } = commonEntry(given, notes.isGemini);
  if (isOff || own(entry, 'disabled') === true || own(entry, 'enabled') === false) {
    warn('it is disabled, and left out.');
    return undefined;
  }
  const { command, url } = { command: own(entry, 'command'), url: own(entry, 'url') };
  if ((typeof command === 'string') === (typeof url === 'string')) {
    warn('it is left out, because it does not have exactly one of `command` and `url`.');
    return undefined;
  }
  for (const key of Object.keys(entry))
    if (!known.has(key)) warn(`\`${key}\` has no counterpart, and is left out.`);
  if (own(entry, 'type') === 'sse')
    warn('it uses the old transport over server-sent events, which is not supported.');
  const args = own(entry, 'args');
  const cwd = own(entry, 'cwd');
  const texts = Array.isArray(args) ? args.filter((arg) => typeof arg === 'string') : [];
  if (Array.isArray(args) ? texts.length < args.length : args !== undefined)
    warn('arguments that are not a list of texts are left out.');
  for (const text of [command, url, cwd, ...texts])
    if (typeof text === 'string')
      for (const placeholder of placeholders(text))
        warn(`\`${placeholder}\` is kept as it is: only \`env\` and \`headers\` have variables.`);
  for (const place of secretArguments(texts))
    warn(
      `\`${place}\` seems to be a secret, and is in the file as plain text. Arguments have no ` +
        'variables. If the server takes it from a variable, move it to `env`.',
    );
  if (typeof url === 'string') warnOfAddress(url, warn);
  notes.denied.push(...denied.map((tool) => `${name}.${tool}`));
  const { tools, timeout } = entry;
  const settings: JsonObject = {
    ...(tools === undefined ? {} : { tools }),
    ...(timeout === undefined ? {} : { labels: { '*': { timeoutMs: timeout } } }),
  };
  if (typeof url === 'string')
    return { url, ...filledOf('headers', entry, notes, warn), ...settings };
  return {
    command: command as string,
    ...(texts.length === 0 ? {} : { args: texts }),
    ...filledOf('env', entry, notes, warn),
    ...(typeof cwd === 'string' ? { cwd } : {}),
    ...settings,
  };
}

function warnOfAddress(url: string, warn: (text: string) => void): void {
  const { username = '', password = '' } = URL.canParse(url) ? new URL(url) : {};
  const secret = secretInAddress(url);
  if (username !== '' || password !== '')
    warn(
      '`url` is in the file as plain text, with a user or a password, which a gateway refuses. ' +
        'Move them to `headers`, and put a variable there.',
    );
  else if (secret !== undefined)
    warn(
      `\`url\` is in the file as plain text, with ${secret}. If the server takes that from a ` +
        'header, move it to `headers`, and put a variable there.',
    );
}

/**
 * Placeholders that VS Code and Cursor fill in by themselves. They are not environment variables.
 */
const ofEditors = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'userHome',
  'pathSeparator',
  'execPath',
  'cwd',
]);

function filledOf(
  key: 'env' | 'headers',
  entry: JsonObject,
  notes: Notes,
  warn: (text: string) => void,
): JsonObject {
  const given = own(entry, key);
  if (!isJsonObject(given)) return {};
  const kept = Object.entries(given).flatMap(([name, value]) => {
    if (typeof value !== 'string' && typeof value !== 'number') {
      warn(`\`${key}.${name}\` is not a text, and is left out.`);
      return [];
    }
    let text = String(value).replace(
      /\$\{(?:env:([A-Za-z_]\w*)|input:([^}]+))\}/g,
      (_, variable: string | undefined, input: string) => `\${${variable ?? notes.nameOf(input)}}`,
    );
    for (const [, variable] of text.matchAll(withDefault))
      warn(`\`${key}.${name}\`: the default of \`${variable}\` is left out. Set the variable.`);
    text = text.replace(withDefault, (_, variable: string) => `\${${variable}}`);
    const lost = placeholders(text).find((one) => {
      const variable = /^\$\{([A-Za-z_]\w*)\}$/.exec(one)?.[1];
      return variable === undefined || ofEditors.has(variable);
    });
    if (lost !== undefined) {
      warn(`\`${key}.${name}\` is left out: \`${lost}\` is not known here. Add it by hand.`);
      return [];
    }
    for (const [, variable] of text.matchAll(/\$\{([A-Za-z_]\w*)\}/g))
      notes.variables.add(variable as string);
    if (looksSecret(name, text) || secretInAddress(text) !== undefined)
      warn(
        `\`${key}.${name}\` is in the file as plain text. Put \`\${${variableOf(name)}}\` there, ` +
          'and set that variable.',
      );
    return [[name, text] as const];
  });
  return kept.length === 0 ? {} : { [key]: Object.fromEntries(kept) };
}

/** A variable with a default, as Claude Code and Gemini CLI read it. */
const withDefault = /\$\{([A-Za-z_]\w*):-[^}]*\}/g;

/** Anything that a client might replace. */
function placeholders(text: string): readonly string[] {
  return text.match(/\$\{[^}]*\}?/g) ?? [];
}
