/** `gateway login`: signs in to a server of a gateway, through the user's browser. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { readFile } from '../../surfaces/config/read-file.ts';
import { type ServerEntry, serverEntry } from '../../surfaces/config/server-format.ts';
import { tokenFile, tokenFolder } from '../../surfaces/gateway/secret-files.ts';
import { missingText } from '../../surfaces/gateway/server-connection.ts';
import type { RegisteredClient } from '../../surfaces/mcp/client/oauth.ts';
import { type Callback, signIn } from '../../surfaces/mcp/client/sign-in.ts';
import { cleanLine } from '../../surfaces/shared/outside-text.ts';
import { messageOf } from '../../values/errors/index.ts';
import { redactText } from '../../values/redaction/scrub.ts';
import { Secrets } from '../../values/redaction/secrets.ts';
import { fillVariables } from '../../values/text/fill-variables.ts';
import type { CliIo } from '../cli-io.ts';
import type { Command } from '../command.ts';
import { failure, untilInterrupted, usageFault } from '../fault.ts';
import { listen } from '../listen.ts';
import { meant, type Options } from '../options.ts';
import { userHome } from '../user-home.ts';

const host = '127.0.0.1';
const defaultFile = 'gateway.yaml';
/** Milliseconds that a person has for the login. */
const longestMs = 600_000;

export const gatewayLogin: Command = {
  name: 'gateway login',
  usage: 'NAME [--client-id ID [--client-secret VARIABLE --issuer URL]] [--port N]',
  summary: 'sign in to a server of a gateway that asks for a login by OAuth',
  notes: [
    `NAME is the name of a server in FILE. The default for FILE is ./${defaultFile}.`,
    'The command prints the address to open in a browser on standard error, and waits ten minutes.',
    'If a server does not let clients register themselves, register one there and pass its id ' +
      'with --client-id.',
    'Its redirect address is http://127.0.0.1:PORT/callback. Choose the port with --port.',
    'The tokens are kept in a file that only you can read. `serve` uses and renews them.',
  ],
  options: ['host-tools', 'client-id', 'client-secret', 'issuer', 'port'],
  wording: {
    issuer: {
      value: 'URL',
      help: 'with --client-id: the only authorization server that it is for; a secret needs it',
    },
    port: { value: 'N', help: 'wait for the answer on this port; default 0, any free port' },
  },
  operands: ['NAME'],
  packages: () => ['@modelcontextprotocol/client'],
  async run({ io, screen, options, operands: [name = ''] }) {
    const [{ name: file } = { name: defaultFile }, another] = options.sources;
    if (another !== undefined)
      throw usageFault('`gateway login` takes one file: give `--host-tools` once.');
    const { url, auth } = await serverOf(resolve(io.cwd, file), name);
    const person = personIn(auth, name);
    const client = clientOf(options, io.env) ?? clientIn(person, name, io.env);
    const state = randomBytes(32).toString('base64url');
    const { server, answer } = callbackServer(state);
    try {
      const { port } = await listen(server, host, options.listen.port ?? 0);
      const store = tokenFile(tokenFolder(io.env.XDG_STATE_HOME, userHome(io.env)), name, url);
      const signed = await untilInterrupted(
        signIn({
          url,
          redirectUrl: `http://${host}:${port}/callback`,
          state,
          store,
          client,
          clientMetadataUrl: person.clientMetadataUrl,
          scopes: person.scopes,
          dpop: person.dpop,
          show(address, wanted) {
            if (wanted.length > 0) screen.note(`Calls have needed: ${wanted.join(', ')}.`);
            screen.note(`Open this address to log in: ${address.href}`);
          },
          answer: () => soonEnough(answer),
        }),
        io.signal,
      );
      const text = signed
        ? `Logged in to \`${name}\`. \`host-tools serve\` uses it from now on.`
        : `The server \`${name}\` does not ask for a login, so nothing was kept.`;
      return { exit: 0, text, json: { name, loggedIn: signed } };
    } catch (error) {
      if (io.signal.aborted) throw error;
      const why = scrubbed(messageOf(error), client?.secret);
      throw failure(`Cannot log in to \`${name}\`: ${cleanLine(why, 1_000)}`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
};

function scrubbed(text: string, secret: string | undefined): string {
  const secrets = new Secrets();
  if (secret !== undefined) secrets.addText(secret);
  return redactText(text, secrets);
}

/** @throws CliFault for a secret without a client, or one that is not set */
function clientOf(
  { oauth: { clientId, clientSecret, issuer } }: Options,
  env: CliIo['env'],
): RegisteredClient | undefined {
  if (clientId === undefined) {
    const given = clientSecret === undefined ? issuer && 'issuer' : 'client-secret';
    if (given === undefined) return undefined;
    throw usageFault(`\`--${given}\` needs the client that it belongs to: \`--client-id ID\`.`);
  }
  if (clientSecret === undefined) return { id: clientId, secret: undefined, issuer };
  if (issuer === undefined)
    throw usageFault(
      '`--client-secret` needs `--issuer URL`, the only authorization server that gets the ' +
        'secret: otherwise it would be sent wherever the server says.',
    );
  const secret = env[clientSecret];
  if (secret === undefined || secret === '')
    throw usageFault(
      `The environment variable \`${clientSecret.slice(0, 60)}\` of \`--client-secret\` is not ` +
        'set.',
    );
  return { id: clientId, secret, issuer };
}

type Person = Extract<ServerEntry['auth'], { grant: 'authorization_code' }>;

/** @throws CliFault for a server that no person logs in to */
function personIn(auth: ServerEntry['auth'], name: string): Person {
  if (auth === undefined) return { grant: 'authorization_code' };
  if (auth.grant === 'authorization_code') return auth;
  throw usageFault(
    `The server \`${name}\` gets its tokens by the grant \`${auth.grant}\`, so nobody logs in.`,
  );
}

/** The client that the file names. @throws CliFault for a secret that is not set */
function clientIn(
  { clientId, clientSecret, issuer }: Person,
  name: string,
  env: CliIo['env'],
): RegisteredClient | undefined {
  if (clientId === undefined) return undefined;
  const { values, missing } = fillVariables({ secret: clientSecret ?? '' }, env);
  if (missing.length > 0) throw failure(`The server \`${name}\`: ${missingText(missing)}.`);
  return { id: clientId, secret: values.secret === '' ? undefined : values.secret, issuer };
}

/** @throws CliFault for a server that does not exist, or that has no address */
async function serverOf(
  path: string,
  name: string,
): Promise<{ readonly url: string; readonly auth: ServerEntry['auth'] }> {
  const { mcpServers } = await readFile(path).catch((error: unknown) => {
    throw failure(messageOf(error));
  });
  const found = mcpServers.find(({ key }) => key === name);
  if (found === undefined) {
    const names = mcpServers.map(({ key }) => key as string);
    throw usageFault(
      `The file has no server \`${name}\`. ${meant(name, names)}` +
        `It has ${names.length === 0 ? 'none' : names.map((one) => `\`${one}\``).join(', ')}.`,
    );
  }
  if (!serverEntry.safeParse(found.value).success)
    throw failure(`The server \`${name}\` has an error: see \`host-tools validate\`.`);
  const { url, auth } = found.value as ServerEntry;
  if (url === undefined)
    throw usageFault(`The server \`${name}\` is started by a command, so it needs no login.`);
  return { url, auth };
}

/** Waits for the browser, on an address of this machine. */
function callbackServer(state: string): { readonly server: Server; answer: Promise<Callback> } {
  let came: (callback: Callback) => void = () => {};
  let failed: (error: Error) => void = () => {};
  const answer = new Promise<Callback>((resolve, reject) => {
    came = resolve;
    failed = reject;
  });
  // No code may await it yet.
  answer.catch(() => {});
  const server = createServer({ headersTimeout: 10_000 }, (request, response) => {
    // Any page can send a request here, even one whose address is invalid.
    const address = request.url ?? '/';
    if (!URL.canParse(address, `http://${host}`)) return tell(response, 404, 'Not found.');
    const { pathname, searchParams } = new URL(address, `http://${host}`);
    if (request.method !== 'GET' || pathname !== '/callback')
      return tell(response, 404, 'Not found.');
    // Another page could send its own code.
    if (!isSame(searchParams.get('state') ?? '', state))
      return tell(response, 400, 'This is not the login that was asked for.');
    const code = searchParams.get('code');
    const error = searchParams.get('error');
    if (code === null) {
      failed(new Error(`it was refused: ${cleanLine(error ?? 'without a reason', 200)}`));
      return tell(response, 400, 'The login was refused. You can close this page.');
    }
    came({ code, iss: searchParams.get('iss') ?? undefined });
    return tell(response, 200, 'You can close this page and go back to the command line.');
  });
  return { server, answer };
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function tell(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    })
    .end(`${text}\n`);
}

function soonEnough(answer: Promise<Callback>): Promise<Callback> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('nobody logged in within ten minutes')), longestMs);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
