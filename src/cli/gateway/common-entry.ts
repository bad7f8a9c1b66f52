/** Brings a client's entry for a server into the shape of a gateway's, key by key. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { own } from './client-files.ts';

/** An entry with the keys that all clients share. Its `timeout` is in milliseconds. */
export interface CommonEntry {
  readonly entry: JsonObject;
  /** The server's own names of tools that the client does not use. */
  readonly denied: readonly string[];
}

/** @param isGemini whether `$NAME` stands for a variable, as in the files of Gemini CLI */
export function commonEntry(given: JsonObject, isGemini: boolean): CommonEntry {
  const {
    httpUrl,
    serverUrl,
    url = serverUrl,
    http_headers,
    headers = http_headers,
    env,
    env_vars,
    env_http_headers,
    bearer_token_env_var,
    includeTools,
    enabled_tools = includeTools,
    tools = enabled_tools,
    excludeTools,
    disabled_tools = excludeTools,
    timeout,
    tool_timeout_sec,
    ...rest
  } = given as Record<string, JsonValue | undefined>;
  const timeoutMs =
    typeof tool_timeout_sec === 'number' ? Math.round(tool_timeout_sec * 1e6) / 1e3 : timeout;
  const filled = (value: JsonValue | undefined): JsonValue | undefined =>
    isGemini ? withBraces(value) : value;
  const forwarded = textsIn(env_vars).map((name): [string, string] => [name, variable(name)]);
  const fromEnv = Object.entries(isJsonObject(env_http_headers) ? env_http_headers : {}).map(
    ([name, value]): [string, string] => [name, variable(String(value))],
  );
  const bearer: [string, string][] =
    typeof bearer_token_env_var === 'string'
      ? [['Authorization', `Bearer ${variable(bearer_token_env_var)}`]]
      : [];
  const taken = textsIn(tools).filter((name) => name !== '*');
  const entry: Record<string, JsonValue | undefined> = {
    ...rest,
    url: httpUrl ?? url,
    env: joined(filled(env), forwarded),
    headers: joined(filled(headers), [...fromEnv, ...bearer]),
    tools: taken.length === 0 ? undefined : taken,
    timeout: typeof timeoutMs === 'number' && timeoutMs > 0 ? timeoutMs : undefined,
  };
  return {
    entry: Object.fromEntries(
      Object.entries(entry).filter(([, value]) => value !== undefined),
    ) as JsonObject,
    denied: textsIn(disabled_tools),
  };
}

/** Texts, or the names of objects such as `{ name, source }`. */
function textsIn(value: JsonValue | undefined): string[] {
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  return list.flatMap((one) => {
    const text = typeof one === 'string' ? one : own(one, 'name');
    return typeof text === 'string' ? [text] : [];
  });
}

function joined(
  value: JsonValue | undefined,
  more: readonly (readonly [string, string])[],
): JsonValue | undefined {
  if (more.length === 0) return value;
  return { ...(isJsonObject(value) ? value : {}), ...Object.fromEntries(more) };
}

function variable(name: string): string {
  return `\${${name}}`;
}

function withBraces(value: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [
      name,
      typeof text === 'string'
        ? text.replace(/\$([A-Za-z_]\w*)/g, (_, one: string) => variable(one))
        : text,
    ]),
  );
}

// Names the variables that take the place of a client's inputs, such as `${input:api-key}`.

/** Gives an input its variable. */
export type InputVariables = (id: string) => string;

/**
 * Each input of a configuration gets a variable of its own, the same one wherever it occurs. Names
 * of the environment that the configuration uses are left to it.
 * @param section the servers of the configuration
 * @param warn called once for each input that does not get the name that its id suggests
 */
export function inputVariables(section: JsonObject, warn: (text: string) => void): InputVariables {
  const known = new Map<string, string>();
  // Some systems do not tell the cases of letters apart.
  const taken = new Set(
    [...JSON.stringify(section).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}/g)].map(([, name = '']) =>
      name.toUpperCase(),
    ),
  );
  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const wanted = variableOf(id);
    let name = wanted;
    for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
    taken.add(name);
    known.set(id, name);
    if (name !== wanted)
      warn(
        `\`\${input:${id}}\` becomes \`\${${name}}\`, because \`${wanted}\` stands for something ` +
          'else.',
      );
    return name;
  };
}

/** The name of a variable for the id of an input, or for a key. */
export function variableOf(id: string): string {
  const name = id.toUpperCase().replace(/[^A-Z0-9_]+/g, '_');
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}

// Finds what is probably a secret in plain text. The values themselves are never told.

const leastSecret = 8;
const maxOfName = 60;

/** Whether a value under this name is probably a secret, and not the name of a variable. */
export function looksSecret(name: string, value: string): boolean {
  return (
    /key|token|secret|passw|auth|credential/i.test(name) &&
    value.length >= leastSecret &&
    !value.includes('${')
  );
}

/** The places in arguments that have a secret, such as `args[1]`. */
export function secretArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, at) => {
    const flag = args[at - 1] ?? '';
    const follows = /^--?[a-z]/i.test(flag) && !flag.includes('=') && !arg.startsWith('-');
    return (follows && looksSecret(flag, arg)) || hasSecret(arg) ? [`args[${at}]`] : [];
  });
}

/** Whether it is like `--token=…`, `API_KEY=…`, `--header=Authorization: …`, or an address. */
function hasSecret(text: string, isInner = false): boolean {
  const [, name = '', value = ''] = /^([\w.-]{1,200})(?:=|: ?)(.*)$/s.exec(text) ?? [];
  if (looksSecret(name, value) || secretInAddress(text) !== undefined) return true;
  return !isInner && name.startsWith('-') && hasSecret(value, true);
}

/**
 * What is secret in an address: a password, or a parameter by its name. Undefined for an address
 * without a secret, and for any other text. Not every address has a form that `URL` reads.
 */
export function secretInAddress(text: string): string | undefined {
  const [start, authority = ''] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(text) ?? [];
  if (start === undefined) return undefined;
  const user = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  const colon = user.indexOf(':');
  const password = colon === -1 ? '' : user.slice(colon + 1);
  // A short user without a password is only a name, as in `ssh://git@…`.
  const isSecret = password !== '' || user.length >= leastSecret;
  if (isSecret && !user.includes('${')) return 'its user and password';
  const [, query = ''] = /\?([^#]*)/.exec(text) ?? [];
  for (const [name, value] of new URLSearchParams(query))
    if (looksSecret(name, value)) return `its parameter \`${name.slice(0, maxOfName)}\``;
  return undefined;
}
