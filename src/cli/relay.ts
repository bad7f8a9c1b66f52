/** `relay`: runs a relay, where applications bring their tools to agents' sessions. */
import { createHmac, randomBytes } from 'node:crypto';
import { messageOf } from '../errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { type ApprovalStore, HostToolRegistry } from '../index.ts';
import { basePath } from '../relay/http/route-table.ts';
import {
  type RelayLogger,
  type RelayOptions,
  type ServedRelay,
  serveRelay,
} from '../relay/index.ts';
import { type CliIo, writeOut } from './cli-io.ts';
import type { Answer, Command } from './command.ts';
import { failure, untilInterrupted, usageFault } from './fault.ts';
import { openGateway } from './open-gateway.ts';
import { jsonText } from './printable.ts';
import { openRelayRedis } from './relay-redis.ts';
import type { Screen } from './screen.ts';
import { openWorld } from './world.ts';

const defaultPort = 4_040;
/** The address has already been written to standard output. */
const done: Answer = { exit: 0, text: '', json: null, silent: true };

export const relay: Command = {
  name: 'relay',
  usage: '[--port N] [--redis URL] [--host-tools FILE]',
  summary: "start a relay, where applications bring their tools to agents' sessions",
  notes: [
    'Listens on http://127.0.0.1:4040 until it is interrupted, then says goodbye to everyone who ' +
      'is connected. Log lines are JSON on standard error.',
    'Tools, profiles and rules of --host-tools apply in every session.',
    'Calls that need an approval are refused. With --host-key they wait for',
    `\`POST ${basePath}/:code/approvals/:approvalId\` with the key.`,
    'Nodes with the same --redis and the same key are one relay.',
  ],
  options: [
    'host-tools',
    'host-tools-module',
    'profile',
    'port',
    'host',
    'redis',
    'host-key',
    'allow-origin',
    'pairing',
  ],
  operands: [],
  async run({ io, screen, options }) {
    const { redis: url, host, port = defaultPort, pairing, allowOrigin, profile } = options;
    const hostKey = options.hostKey === undefined ? undefined : keyOf(options.hostKey, io);
    const redis = url === undefined ? undefined : await openRelayRedis(url, io, screen);
    const logger = loggerOn(screen);
    const registry = makeRegistry(hostKey, redis?.approvals, logger);
    let served: ServedRelay | undefined;
    let gateway: Gateway | undefined;
    try {
      if (options.sources.length > 0) {
        const wishes = { starts: true, records: true, keeps: false, cwd: io.cwd, pin: false };
        gateway = await openGateway(registry, wishes, io, screen);
        const world = await openWorld(registry, options, io, screen, {
          gateway,
          serves: false,
          onWatch: () => {},
        });
        world.requireRules();
        const fault = profile === undefined ? undefined : world.profileFault(profile);
        if (fault !== undefined) throw fault;
      } else if (profile !== undefined)
        throw usageFault('`--profile` needs `--host-tools FILE`, which defines it.');
      served = await untilInterrupted(
        serveRelay({
          port,
          ...(host === undefined ? {} : { host }),
          ...(hostKey === undefined ? {} : { hostKey }),
          ...(redis === undefined ? {} : { store: redis.store, bus: redis.bus }),
          ...(allowOrigin.length === 0
            ? {}
            : { allowedOrigins: allowOrigin.includes('*') ? '*' : allowOrigin }),
          pairing,
          logger,
          session: {
            registry,
            ...(profile === undefined ? {} : { profile }),
            ...(hostKey === undefined ? {} : { approvalMode: 'suspend' }),
          },
        } satisfies RelayOptions & { port: number; host?: string }),
        io.signal,
      );
      screen.note(`The relay listens at ${served.url}`);
      // Programs that start the command wait for this line.
      if (io.stdout.isTTY !== true)
        await writeOut(
          io.stdout,
          `${options.json ? jsonText({ url: served.url, port: served.port }) : served.url}\n`,
        );
      await interrupted(io.signal);
      return done;
    } catch (error) {
      throw isInUse(error) ? failure(`${messageOf(error)}. Give another \`--port\`.`) : error;
    } finally {
      await served?.close();
      await registry.close();
      await gateway?.close();
      await redis?.close();
    }
  },
};

/**
 * If nodes share a store, a suspended call outlives its node. So all nodes need the same approval
 * secret, which comes from the host key.
 */
function makeRegistry(
  hostKey: string | undefined,
  store: ApprovalStore | undefined,
  logger: RelayLogger,
): HostToolRegistry {
  const secret =
    hostKey === undefined || store === undefined
      ? randomBytes(32)
      : createHmac('sha256', hostKey).update('host-tools relay approvals').digest();
  return new HostToolRegistry({
    logger,
    approvals: { secret, ...(store === undefined ? {} : { store }) },
  });
}

/** @throws CliFault 2 */
function keyOf(variable: string, { env }: CliIo): string {
  const key = env[variable];
  if (key === undefined || key === '')
    throw usageFault(
      `\`--host-key\` names the environment variable \`${variable.slice(0, 60)}\`, which is not ` +
        'set. Set it to the key.',
    );
  return key;
}

/** Writes one JSON document per line. An error, which JSON would leave empty, has its stack. */
function loggerOn(screen: Screen): RelayLogger {
  const written = (_: string, value: unknown): unknown =>
    value instanceof Error
      ? { type: value.name, message: value.message, stack: value.stack, cause: value.cause }
      : value;
  const at = (level: string) => (data: object, message?: string) =>
    screen.note(
      jsonText(JSON.parse(JSON.stringify({ level, ...data, msg: message ?? '' }, written))).replace(
        /\s*\n\s*/g,
        ' ',
      ),
    );
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function isInUse(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
}
