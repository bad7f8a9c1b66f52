/** How to reach a server of a file. */
import { basename, dirname, resolve } from 'node:path';
import type { ServerEntry } from '../config/server-format.ts';
import type { McpConnection } from '../mcp/client/import.ts';
import { bearerOf } from '../mcp/client/oauth.ts';
import { fillVariables, type GatewayPorts } from './ports.ts';
import { tokenFile } from './secret-files.ts';

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
  const connection =
    url === undefined
      ? {
          command: command as string,
          args,
          env: values,
          cwd: cwd === undefined ? folder : resolve(folder, cwd),
        }
      : { url, headers: values };
  return { connection, missing, used };
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
export function authOf({
  name,
  file,
  entry,
  ports,
}: NamedServer): ReturnType<typeof bearerOf> | undefined {
  const { url, headers = {} } = entry;
  if (url === undefined || Object.keys(headers).some((one) => /^authorization$/i.test(one)))
    return undefined;
  const shown = basename(file);
  const where = shown === 'gateway.yaml' ? '' : ` --host-tools ${shown}`;
  const told = new Set<string>();
  return bearerOf(url, tokenFile(ports.tokens(), name, url), {
    hint: `Run \`npx host-tools gateway login ${name}${where}\`.`,
    told(secret) {
      if (told.has(secret)) return;
      // Each renewal brings new tokens. Old ones no longer count.
      if (told.size >= 64) told.clear();
      told.add(secret);
      ports.keepSecret(secret);
    },
  });
}
