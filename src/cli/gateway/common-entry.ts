/** Brings a client's entry for a server into the shape of a gateway's, key by key. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { own } from './client-scopes.ts';

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
