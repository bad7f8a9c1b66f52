/** How to reach a server of a file. */
import { basename, dirname, resolve } from 'node:path';
import { fillVariables } from '../../values/text/fill-variables.ts';
import { authSecrets, type ServerEntry } from '../config/server-format.ts';
import type { McpAuth } from '../mcp/client/auth-options.ts';
import { bearerOf, type TokenSource } from '../mcp/client/bearer.ts';
import type { McpConnection } from '../mcp/client/import.ts';
import type { GatewayPorts } from './ports.ts';
import { readAssertion, tokenFile } from './secret-files.ts';

/** A server of a file. */
export interface NamedServer {
  readonly name: string;
  /** The path of the file that names it. */
  readonly file: string;
  readonly entry: ServerEntry;
  readonly ports: GatewayPorts;
}

/** How to reach a server, and the variables that are missing for it. */
export function connectionOf({ entry, file, ports }: Omit<NamedServer, 'name'>): {
  readonly connection: McpConnection;
  readonly missing: readonly string[];
  readonly used: readonly string[];
} {
  const folder = dirname(file);
  const { command, args = [], env = {}, cwd, url, headers = {} } = entry;
  const { values, missing, used } = fillVariables(url === undefined ? env : headers, ports.env);
  const tokens = authIn(entry, folder, ports);
  const connection =
    url === undefined
      ? {
          command: command as string,
          args,
          env: values,
          cwd: cwd === undefined ? folder : resolve(folder, cwd),
        }
      : { url, headers: values, auth: tokens?.auth };
  return {
    connection,
    missing: [...new Set([...missing, ...(tokens?.missing ?? [])])],
    used: [...used, ...(tokens?.used ?? [])],
  };
}

/** How a program gets tokens; undefined where a person logs in. */
function authIn(
  { auth }: ServerEntry,
  folder: string,
  ports: GatewayPorts,
):
  | {
      readonly auth: McpAuth;
      readonly missing: readonly string[];
      readonly used: readonly string[];
    }
  | undefined {
  if (auth === undefined || auth.grant === 'authorization_code') return undefined;
  const secrets = Object.fromEntries(
    Object.entries(auth).filter(([key]) => (authSecrets as readonly string[]).includes(key)),
  );
  const { values, missing, used } = fillVariables(secrets as Record<string, string>, ports.env);
  const { assertionFile, ...given } = { assertionFile: undefined, ...auth };
  const assertion = assertionFile && readAssertion(resolve(folder, assertionFile), keeperOf(ports));
  // A secret that the file has itself is one all the same.
  return {
    auth: { ...given, ...values, ...(assertion && { assertion }) } as McpAuth,
    missing,
    used: [...used, ...Object.values(values)],
  };
}

/** Names the variables that a server lacks, and says what to do. */
export function missingText(missing: readonly string[]): string {
  const names = missing.map((name) => `\`${name}\``).join(', ');
  return missing.length === 1
    ? `the variable ${names} is not set; set it and start again`
    : `the variables ${names} are not set; set them and start again`;
}

/** The prefix of each of its names. */
export function prefixOf({ name, entry }: Pick<NamedServer, 'name' | 'entry'>): string {
  return entry.prefix ?? `${name}.`;
}

/** The source of a login's token. Undefined if the file says how to sign in to the server. */
export function authOf({ name, file, entry, ports }: NamedServer): TokenSource | undefined {
  const { url, headers = {}, auth } = entry;
  if (auth !== undefined && auth.grant !== 'authorization_code') return undefined;
  if (url === undefined || Object.keys(headers).some((one) => /^authorization$/i.test(one)))
    return undefined;
  const shown = basename(file);
  const where = shown === 'gateway.yaml' ? '' : ` --host-tools ${shown}`;
  return bearerOf(url, tokenFile(ports.tokens(), name, url), {
    hint: `Run \`npx host-tools gateway login ${name}${where}\`.`,
    told: keeperOf(ports),
    mustBind: auth?.dpop === true,
  });
}

/** Hides each token from errors, events and logs. */
export function keeperOf({ keepSecret }: GatewayPorts): (secret: string) => void {
  const told = new Set<string>();
  return (secret) => {
    if (told.has(secret)) return;
    // Each renewal brings new tokens. Old ones no longer count.
    if (told.size >= 64) told.clear();
    told.add(secret);
    keepSecret(secret);
  };
}
